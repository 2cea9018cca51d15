//! Hints at leaves: slopes and multipliers for each entry, read in blocks when they are wanted.

use super::tree::{indices, needed, one_axis, shaped};
use certkern_core::num::Dyadic;
use certkern_core::program::{NodeId, Primitive};
use certkern_core::property::{Row, Variable};
use certkern_core::rules::{Multipliers, NodeSlopes, Slopes};
use certkern_core::tensor::Tensor;
use certkern_seal::Documents;
use certkern_wire::limits::{Limits, within};
use certkern_wire::reason::{Reason, Rejection};
use certkern_wire::tensors::{RawTensor, TensorFile};
use std::ops::Range;
use std::sync::Arc;

/// Offsets that are looked at together on opening.
const OFFSETS: usize = 1 << 12;

/// Slopes and multipliers by entry, where an entry is a leaf with a disjunct, in their file.
#[derive(Debug)]
pub(super) struct LeafHints<'a> {
    slopes: Vec<LeafSlopes<'a>>,
    rows: Option<Ragged<'a>>,
    splits: Option<Ragged<'a>>,
}

/// Slopes of one univariate node: the coordinates that have slopes, a row for each entry of those of their lower lines, and perhaps of their upper lines.
#[derive(Debug)]
struct LeafSlopes<'a> {
    node: NodeId,
    columns: Vec<usize>,
    lower: RawTensor<'a>,
    upper: Option<RawTensor<'a>>,
}

/// The same where they were read.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) node: NodeId,
    pub(super) columns: Vec<usize>,
    pub(super) values: Tensor,
    pub(super) upper: Option<Tensor>,
}

/// Lists of different lengths, one for each entry: places and multipliers.
#[derive(Debug)]
struct Ragged<'a> {
    offsets: RawTensor<'a>,
    places: RawTensor<'a>,
    multipliers: RawTensor<'a>,
    /// The most multipliers of one list.
    most: usize,
}

/// The hints of some entries in a row.
pub(super) struct Block<'l> {
    first: usize,
    slopes: Vec<(&'l LeafSlopes<'l>, Tensor, Option<Tensor>)>,
    rows: Vec<Vec<(usize, Dyadic)>>,
    splits: Vec<Vec<(usize, Dyadic)>>,
}

impl Columns {
    /// Row `row`.
    pub(super) fn at(&self, row: usize) -> NodeSlopes<'_> {
        let Self { node, columns, values, upper } = self;
        NodeSlopes { node: *node, columns, values, upper: upper.as_ref(), row }
    }
}

/// The same slopes, for the exact tier.
pub(super) fn exact<'s>(given: impl IntoIterator<Item = NodeSlopes<'s>>) -> Slopes {
    let mut slopes = Slopes::default();
    for NodeSlopes { node, columns, values, upper, row } in given {
        let of = |values: &Tensor| {
            let value = |(place, column): (usize, &usize)| {
                let index = row.checked_mul(columns.len())?.checked_add(place)?;
                Some((*column, values.dyadic(index)?))
            };
            columns.iter().enumerate().filter_map(value).collect()
        };
        slopes.set(node, of(values));
        if let Some(upper) = upper {
            slopes.set_upper(node, of(upper));
        }
    }
    slopes
}

impl<'a> LeafHints<'a> {
    /// Whether a tensor is read here by rows.
    pub(super) fn by_rows(name: &str) -> bool {
        name.starts_with("leaf.") && !name.ends_with(".columns")
    }

    pub(super) fn open(
        file: &mut TensorFile<'a>,
        entries: usize,
        documents: &Documents,
        limits: &Limits,
    ) -> Result<Self, Rejection> {
        let columns = |name: &str| name.strip_prefix("leaf.")?.strip_suffix(".columns")?.parse::<usize>().ok();
        let nodes: Vec<usize> = file.names().filter_map(columns).collect();
        let mut slopes = Vec::with_capacity(nodes.len());
        for node in nodes {
            let act = activation(documents, node)?;
            let columns = ascending(file, &format!("leaf.{node}.columns"), documents, act)?;
            let checked = |values: RawTensor<'a>| {
                shaped(&values, &[entries, columns.len()])?;
                // No row: this asks for the type alone.
                floats(&values.rows(0..0)?)?;
                Ok::<_, Rejection>(values)
            };
            let lower = checked(needed(file, &format!("leaf.{node}.slope"))?)?;
            let upper = file.take(&format!("leaf.{node}.high")).map(checked).transpose()?;
            slopes.push(LeafSlopes { node: act, columns, lower, upper });
        }
        let rows = Ragged::open(file, ("leaf.rows", "index"), entries, limits)?;
        let splits = Ragged::open(file, ("leaf.splits", "depth"), entries, limits)?;
        Ok(Self { slopes, rows, splits })
    }

    /// Reads the hints of some entries.
    pub(super) fn block(&self, entries: Range<usize>) -> Result<Block<'_>, Rejection> {
        let rows = |values: &RawTensor<'_>| floats(&values.rows(entries.clone())?);
        let read = |own: &'_ LeafSlopes<'_>| {
            Ok::<_, Rejection>((rows(&own.lower)?, own.upper.as_ref().map(rows).transpose()?))
        };
        let slopes = self.slopes.iter().map(|own| read(own).map(|(lower, upper)| (own, lower, upper)));
        let lists = |ragged: &Option<Ragged<'_>>| ragged.as_ref().map_or_else(|| Ok(Vec::new()), |r| r.lists(&entries));
        Ok(Block {
            first: entries.start,
            slopes: slopes.collect::<Result<_, Rejection>>()?,
            rows: lists(&self.rows)?,
            splits: lists(&self.splits)?,
        })
    }
}

impl Block<'_> {
    /// The slopes of an entry.
    pub(super) fn slopes(&self, entry: usize) -> Vec<NodeSlopes<'_>> {
        let row = entry.saturating_sub(self.first);
        let slopes = self.slopes.iter();
        slopes
            .map(|(own, values, upper)| NodeSlopes {
                node: own.node,
                columns: &own.columns,
                values,
                upper: upper.as_ref(),
                row,
            })
            .collect()
    }

    /// The multipliers to try for an entry whose disjunct has these `rows`: those that are given, else each row alone that speaks of an
    /// output, or each row if none does.
    pub(super) fn multipliers(&self, entry: usize, rows: &[Arc<Row>]) -> Vec<Multipliers> {
        let place = entry.saturating_sub(self.first);
        let given = |lists: &Vec<Vec<_>>| lists.get(place).cloned().unwrap_or_default();
        let literals: Vec<(usize, Dyadic)> = given(&self.splits);
        match given(&self.rows) {
            list if !list.is_empty() => vec![Multipliers { rows: list, literals }],
            _ if rows.is_empty() => vec![Multipliers { rows: Vec::new(), literals }],
            _ => {
                let on_output =
                    |row: &Arc<Row>| row.terms.iter().any(|(variable, _)| matches!(variable, Variable::Y(_)));
                let any = rows.iter().any(on_output);
                let tried = rows.iter().enumerate().filter(|(_, row)| !any || on_output(row));
                let alone = |row| Multipliers { rows: vec![(row, Dyadic::new(1, 0))], literals: literals.clone() };
                tried.map(|(index, _)| alone(index)).collect()
            }
        }
    }
}

impl<'a> Ragged<'a> {
    fn open(
        file: &mut TensorFile<'a>,
        (prefix, places): (&str, &str),
        entries: usize,
        limits: &Limits,
    ) -> Result<Option<Self>, Rejection> {
        let Some(offsets) = file.take(&format!("{prefix}.offset")) else { return Ok(None) };
        shaped(&offsets, &[entries.saturating_add(1)])?;
        let places = needed(file, &format!("{prefix}.{places}"))?;
        let length = one_axis(&places)?;
        let multipliers = needed(file, &format!("{prefix}.multiplier"))?;
        let ragged = Self { offsets, places, multipliers, most: limits.rows };
        if !ragged.ascends(entries, length)? || ragged.multipliers.shape != [length] {
            let text = format!("{prefix}: offsets, places and multipliers do not fit each other");
            return Err(Reason::HintShape(text).into());
        }
        // No element: this asks for the types alone.
        ragged.places.rows(0..0)?.u32s()?;
        floats(&ragged.multipliers.rows(0..0)?)?;
        Ok(Some(ragged))
    }

    /// Whether the offsets ascend from 0 to `length`.
    fn ascends(&self, entries: usize, length: usize) -> Result<bool, Rejection> {
        let mut last = 0;
        for from in (0..=entries).step_by(OFFSETS) {
            let to = from.saturating_add(OFFSETS).min(entries.saturating_add(1));
            let offsets = indices(&self.offsets.rows(from..to)?)?;
            let (Some(first), true) = (offsets.first(), offsets.is_sorted()) else { return Ok(false) };
            if *first < last || (from == 0 && *first != 0) {
                return Ok(false);
            }
            last = offsets.last().copied().unwrap_or(0);
        }
        Ok(last == length)
    }

    /// The lists of some entries. The file may have changed since it was opened.
    fn lists(&self, entries: &Range<usize>) -> Result<Vec<Vec<(usize, Dyadic)>>, Rejection> {
        let offsets = indices(&self.offsets.rows(entries.start..entries.end.saturating_add(1))?)?;
        let (first, last) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        if !offsets.is_sorted() || self.places.shape.iter().any(|length| last > *length) {
            return Err(Reason::HintShape(format!("{} does not ascend", self.offsets.name)).into());
        }
        within("rows", last.saturating_sub(first), self.most)?;
        let places = indices(&self.places.rows(first..last)?)?;
        let multipliers = floats(&self.multipliers.rows(first..last)?)?;
        let mut pairs = places.into_iter().enumerate().map_while(|(i, place)| Some((place, multipliers.dyadic(i)?)));
        let lengths = offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| to.saturating_sub(*from));
        Ok(lengths.map(|length| pairs.by_ref().take(length).collect()).collect())
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
    let values = needed(file, name)?;
    shaped(&values, &[rows, columns])?;
    floats(&values)
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
