//! Hints at leaves: slopes and multipliers for each entry.

use super::tree::{column, indices, needed};
use certkern_core::num::Dyadic;
use certkern_core::program::{NodeId, Primitive};
use certkern_core::property::{Row, Variable};
use certkern_core::rules::{Multipliers, Slopes};
use certkern_core::tensor::Tensor;
use certkern_seal::Documents;
use certkern_wire::reason::{Reason, Rejection};
use certkern_wire::tensors::{RawTensor, TensorFile};

/// Slopes and multipliers by entry, where an entry is a leaf with a disjunct.
#[derive(Debug)]
pub(super) struct LeafHints {
    slopes: Vec<Columns>,
    rows: Option<Ragged>,
    splits: Option<Ragged>,
}

/// Slopes of one univariate node: for each row the slopes of the same coordinates.
#[derive(Debug)]
pub(super) struct Columns {
    node: NodeId,
    columns: Vec<usize>,
    values: Tensor,
}

/// Lists of different lengths, one for each entry: places and multipliers.
#[derive(Debug)]
struct Ragged {
    offsets: Vec<usize>,
    places: Vec<usize>,
    multipliers: Tensor,
}

impl Columns {
    pub(super) fn new(node: NodeId, columns: Vec<usize>, values: Tensor) -> Self {
        Self { node, columns, values }
    }

    /// Adds row `row` to `slopes`.
    pub(super) fn give(&self, row: usize, slopes: &mut Slopes) {
        let width = self.columns.len();
        let value = |(place, column): (usize, &usize)| {
            let index = row.checked_mul(width)?.checked_add(place)?;
            Some((*column, self.values.dyadic(index)?))
        };
        slopes.set(self.node, self.columns.iter().enumerate().filter_map(value).collect());
    }
}

impl LeafHints {
    pub(super) fn read(file: &mut TensorFile<'_>, entries: usize, documents: &Documents) -> Result<Self, Rejection> {
        let columns = |name: &str| name.strip_prefix("leaf.")?.strip_suffix(".columns")?.parse::<usize>().ok();
        let nodes: Vec<usize> = file.names().filter_map(columns).collect();
        let mut slopes = Vec::with_capacity(nodes.len());
        for node in nodes {
            let act = activation(documents, node)?;
            let columns = ascending(file, &format!("leaf.{node}.columns"), documents, act)?;
            let values = matrix(file, &format!("leaf.{node}.slope"), entries, columns.len())?;
            slopes.push(Columns::new(act, columns, values));
        }
        let rows = Ragged::read(file, "leaf.rows", "index", entries)?;
        let splits = Ragged::read(file, "leaf.splits", "depth", entries)?;
        Ok(Self { slopes, rows, splits })
    }

    /// The slopes of an entry.
    pub(super) fn slopes(&self, entry: usize) -> Slopes {
        let mut slopes = Slopes::default();
        for columns in &self.slopes {
            columns.give(entry, &mut slopes);
        }
        slopes
    }

    /// The multipliers to try for an entry whose disjunct has these `rows`: those that are given, else each row alone that speaks of an
    /// output, or each row if none does.
    pub(super) fn multipliers(&self, entry: usize, rows: &[Row]) -> Vec<Multipliers> {
        let given = |ragged: &Option<Ragged>| ragged.as_ref().map_or_else(Vec::new, |r| r.list(entry));
        let literals = given(&self.splits);
        match given(&self.rows) {
            list if !list.is_empty() => vec![Multipliers { rows: list, literals }],
            _ if rows.is_empty() => vec![Multipliers { rows: Vec::new(), literals }],
            _ => {
                let on_output = |row: &Row| row.terms.iter().any(|(variable, _)| matches!(variable, Variable::Y(_)));
                let any = rows.iter().any(on_output);
                let tried = rows.iter().enumerate().filter(|(_, row)| !any || on_output(row));
                let alone = |row| Multipliers { rows: vec![(row, Dyadic::new(1, 0))], literals: literals.clone() };
                tried.map(|(index, _)| alone(index)).collect()
            }
        }
    }
}

impl Ragged {
    fn read(file: &mut TensorFile<'_>, prefix: &str, places: &str, entries: usize) -> Result<Option<Self>, Rejection> {
        let offset = format!("{prefix}.offset");
        if !file.names().any(|name| name == offset) {
            return Ok(None);
        }
        let offsets = column(file, &offset, entries.saturating_add(1))?;
        let places = indices(&needed(file, &format!("{prefix}.{places}"))?)?;
        let name = format!("{prefix}.multiplier");
        let multipliers = floats(&needed(file, &name)?)?;
        let ordered = offsets.iter().zip(offsets.iter().skip(1)).all(|(a, b)| a <= b);
        let ends = offsets.first() == Some(&0) && offsets.last() == Some(&places.len());
        if !ordered || !ends || multipliers.shape() != [places.len()] {
            let text = format!("{prefix}: offsets, places and multipliers do not fit each other");
            return Err(Reason::HintShape(text).into());
        }
        Ok(Some(Self { offsets, places, multipliers }))
    }

    fn list(&self, entry: usize) -> Vec<(usize, Dyadic)> {
        let start = self.offsets.get(entry).copied().unwrap_or(0);
        let end = self.offsets.get(entry.saturating_add(1)).copied().unwrap_or(start);
        let pair = |i| Some((*self.places.get(i)?, self.multipliers.dyadic(i)?));
        (start..end).filter_map(pair).collect()
    }
}

/// The program node of a graph node that is a univariate function.
pub(super) fn activation(documents: &Documents, node: usize) -> Result<NodeId, Rejection> {
    let value = documents.value(node);
    let program = documents.problem().program();
    let is_univariate = |id: &NodeId| {
        let primitive = program.nodes().get(*id).map(|node| &node.primitive);
        matches!(primitive, Some(Primitive::Univariate { .. }))
    };
    let found = value.filter(is_univariate);
    found.ok_or_else(|| Reason::HintShape(format!("node {node} is no activation of the graph")).into())
}

/// Coordinates of a node in ascending order.
pub(super) fn ascending(
    file: &mut TensorFile<'_>,
    name: &str,
    documents: &Documents,
    node: NodeId,
) -> Result<Vec<usize>, Rejection> {
    let values = indices(&needed(file, name)?)?;
    let width = documents.problem().program().width(node);
    let ordered = values.iter().zip(values.iter().skip(1)).all(|(a, b)| a < b);
    if !ordered || values.last().is_some_and(|last| *last >= width) {
        let text = format!("{name}: coordinates must ascend and lie below {width}");
        return Err(Reason::HintShape(text).into());
    }
    Ok(values)
}

/// A tensor of slopes `[rows, columns]`.
pub(super) fn matrix(file: &mut TensorFile<'_>, name: &str, rows: usize, columns: usize) -> Result<Tensor, Rejection> {
    let values = floats(&needed(file, name)?)?;
    if values.shape() != [rows, columns] {
        let (expected, found) = (format!("[{rows}, {columns}]"), format!("{:?}", values.shape()));
        return Err(Reason::TensorsShape { name: name.to_owned(), expected, found }.into());
    }
    Ok(values)
}

/// Slopes or multipliers; NaN and infinities are outside every domain.
fn floats(tensor: &RawTensor<'_>) -> Result<Tensor, Rejection> {
    tensor.floats().map_err(|mut fault| {
        if let Reason::TensorsNotFinite { name, index } = &fault.reason {
            fault.reason = Reason::HintDomain(format!("{name}[{index}] is NaN or infinite"));
        }
        fault.into()
    })
}
