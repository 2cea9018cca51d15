//! Bound sets: which intermediate bounds are computed anew, and with which slopes.

use super::hints::{Columns, activation, ascending, matrix};
use super::tier::Tier;
use certkern_core::num::Dyadic;
use certkern_core::program::{NodeId, Primitive, Program};
use certkern_core::rules::{NodeSlopes, RuleError};
use certkern_core::tensor::Tensor;
use certkern_seal::Documents;
use certkern_wire::reason::{Reason, Rejection};
use certkern_wire::tensors::TensorFile;
use std::collections::BTreeSet;

/// A bound set; without starts it is plain.
#[derive(Debug)]
pub(super) struct BoundSet {
    starts: Vec<Start>,
}

/// Slopes for passes that start at one node.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) node: NodeId,
    pub(super) rows: Vec<usize>,
    /// For each activation the slopes of the passes from below and from above.
    slopes: Vec<(Columns, Columns)>,
}

/// Reads the sets; `kinds[s]` tells whether set `s` has slopes.
pub(super) fn read(
    file: &mut TensorFile<'_>,
    kinds: &[bool],
    documents: &Documents,
) -> Result<Vec<BoundSet>, Rejection> {
    let mut sets = Vec::with_capacity(kinds.len());
    for (set, slopes) in kinds.iter().enumerate() {
        let mut starts = Vec::new();
        if *slopes {
            let prefix = format!("bounds.{set}.");
            let start_of = |name: &str| name.strip_prefix(&prefix)?.strip_suffix(".rows")?.parse::<usize>().ok();
            let nodes: BTreeSet<usize> = file.names().filter_map(start_of).collect();
            for node in nodes {
                starts.push(read_start(file, &prefix, node, documents)?);
            }
        }
        sets.push(BoundSet { starts });
    }
    Ok(sets)
}

fn read_start(
    file: &mut TensorFile<'_>,
    prefix: &str,
    start: usize,
    documents: &Documents,
) -> Result<Start, Rejection> {
    let unknown = || Reason::HintShape(format!("node {start} is no argument of an activation, a product or a maximum"));
    let node = documents.value(start).ok_or_else(unknown)?;
    if !arguments(documents.problem().program()).iter().any(|(argument, _)| *argument == node) {
        return Err(unknown().into());
    }
    let prefix = format!("{prefix}{start}.");
    let rows = ascending(file, &format!("{prefix}rows"), documents, node)?;
    let act_of = |name: &str| name.strip_prefix(&prefix)?.strip_suffix(".columns")?.parse::<usize>().ok();
    let acts: BTreeSet<usize> = file.names().filter_map(act_of).collect();
    let names: BTreeSet<String> = file.names().map(str::to_owned).collect();
    let mut slopes = Vec::with_capacity(acts.len());
    for act in acts {
        let id = activation(documents, act)?;
        let columns = ascending(file, &format!("{prefix}{act}.columns"), documents, id)?;
        let mut side = |side| {
            let mut read = |name: String| {
                let values = matrix(file, &name, rows.len(), columns.len())?;
                in_domain(documents, id, &name, &values)?;
                Ok::<_, Rejection>(values)
            };
            let values = read(format!("{prefix}{act}.{side}"))?;
            let name = format!("{prefix}{act}.{side}.high");
            let upper = if names.contains(&name) { Some(read(name)?) } else { None };
            Ok::<_, Rejection>(Columns { node: id, columns: columns.clone(), values, upper })
        };
        slopes.push((side("lower")?, side("upper")?));
    }
    Ok(Start { node, rows, slopes })
}

/// Every slope is checked, whether a pass will use it or not.
fn in_domain(documents: &Documents, act: NodeId, name: &str, values: &Tensor) -> Result<(), Rejection> {
    let Some(Primitive::Univariate { function, .. }) =
        documents.problem().program().nodes().get(act).map(|node| &node.primitive)
    else {
        return Err(Reason::Internal("an activation that is no univariate node").into());
    };
    let Some((least, most)) = function.slope_domain() else { return Ok(()) };
    let outside = |index: &usize| values.dyadic(*index).is_none_or(|slope: Dyadic| slope < least || slope > most);
    match (0..values.len()).find(outside) {
        Some(index) => Err(Reason::HintDomain(format!("{name}[{index}] is outside the slopes of its function")).into()),
        None => Ok(()),
    }
}

/// The arguments of functions, products and maxima in program order, each once, with the first node that takes it.
fn arguments(program: &Program) -> Vec<(NodeId, &Primitive)> {
    let mut seen = BTreeSet::new();
    let taken = program.nodes().iter().flat_map(|node| {
        let arguments = match &node.primitive {
            Primitive::Input | Primitive::Affine(_) => [None, None],
            Primitive::Univariate { argument, .. } | Primitive::Max { argument, .. } => [Some(*argument), None],
            Primitive::Product { left, right } => [Some(*left), Some(*right)],
        };
        arguments.into_iter().flatten().map(|argument| (argument, &node.primitive))
    });
    taken.filter(|(argument, _)| seen.insert(*argument)).collect()
}

impl BoundSet {
    /// Tightens the bounds of `scope`; its interval bounds are computed first unless they are `fresh`.
    pub(super) fn apply<T: Tier>(&self, scope: &mut T, program: &Program, fresh: bool) -> Result<(), RuleError> {
        if !fresh {
            scope.interval_bounds()?;
        }
        for (argument, consumer) in arguments(program) {
            scope.tighten_unstable(argument, consumer)?;
            if let Some(start) = self.starts.iter().find(|start| start.node == argument) {
                scope.tighten_start(start, consumer)?;
            }
        }
        Ok(())
    }
}

impl Start {
    /// For each activation row `row` of the slopes for the passes from below and from above.
    pub(super) fn slopes(&self, row: usize) -> impl Iterator<Item = (NodeSlopes<'_>, NodeSlopes<'_>)> {
        self.slopes.iter().map(move |(lower, upper)| (lower.at(row), upper.at(row)))
    }
}
