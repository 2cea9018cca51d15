//! Bound sets: which intermediate bounds are computed anew, and with which slopes.

use super::hints::{Columns, activation, ascending, matrix};
use super::walk::rejected;
use certkern_core::func::Function;
use certkern_core::num::Dyadic;
use certkern_core::program::{NodeId, Primitive, Program};
use certkern_core::rules::{Scope, Slopes};
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
struct Start {
    node: NodeId,
    rows: Vec<usize>,
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
    let unknown = || Reason::HintShape(format!("node {start} is no argument of an activation"));
    let node = documents.value(start).ok_or_else(unknown)?;
    if !arguments(documents.problem().program()).iter().any(|(argument, _)| *argument == node) {
        return Err(unknown().into());
    }
    let prefix = format!("{prefix}{start}.");
    let rows = ascending(file, &format!("{prefix}rows"), documents, node)?;
    let act_of = |name: &str| name.strip_prefix(&prefix)?.strip_suffix(".columns")?.parse::<usize>().ok();
    let acts: BTreeSet<usize> = file.names().filter_map(act_of).collect();
    let mut slopes = Vec::with_capacity(acts.len());
    for act in acts {
        let id = activation(documents, act)?;
        let columns = ascending(file, &format!("{prefix}{act}.columns"), documents, id)?;
        let mut side = |side| {
            let name = format!("{prefix}{act}.{side}");
            let values = matrix(file, &name, rows.len(), columns.len())?;
            in_domain(documents, id, &name, &values)?;
            Ok::<_, Rejection>(Columns::new(id, columns.clone(), values))
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
    let (least, most) = function.slope_domain();
    let outside = |index: &usize| values.dyadic(*index).is_none_or(|slope: Dyadic| slope < least || slope > most);
    match (0..values.len()).find(outside) {
        Some(index) => Err(Reason::HintDomain(format!("{name}[{index}] is outside the slopes of its function")).into()),
        None => Ok(()),
    }
}

/// The arguments of univariate nodes in program order, each once, with the first function that takes it.
fn arguments(program: &Program) -> Vec<(NodeId, Function)> {
    let mut seen = BTreeSet::new();
    let taken = program.nodes().iter().filter_map(|node| match node.primitive {
        Primitive::Univariate { function, argument } => Some((argument, function)),
        _ => None,
    });
    taken.filter(|(argument, _)| seen.insert(*argument)).collect()
}

impl BoundSet {
    /// Tightens the bounds of `scope`; its interval bounds are computed first unless they are `fresh`.
    pub(super) fn apply(&self, scope: &mut Scope, fresh: bool) -> Result<(), Rejection> {
        let failed = |error| rejected(&error, None);
        if !fresh {
            scope.interval_bounds().map_err(failed)?;
        }
        for (argument, function) in arguments(scope.problem().clone().program()) {
            scope.tighten_unstable(argument, function).map_err(failed)?;
            if let Some(start) = self.starts.iter().find(|start| start.node == argument) {
                start.apply(scope, function).map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl Start {
    /// Bounds the rows whose sign is still open again, with the given slopes.
    fn apply(&self, scope: &mut Scope, function: Function) -> Result<(), certkern_core::rules::RuleError> {
        for (row, coordinate) in self.rows.iter().enumerate() {
            let known = scope.interval(self.node, *coordinate);
            if known.is_none_or(|known| function.linear_slope(&known.lower, &known.upper).is_some()) {
                continue;
            }
            let (mut from_below, mut from_above) = (Slopes::default(), Slopes::default());
            for (lower, upper) in &self.slopes {
                lower.give(row, &mut from_below);
                upper.give(row, &mut from_above);
            }
            scope.tighten(self.node, *coordinate, &from_below, &from_above)?;
        }
        Ok(())
    }
}
