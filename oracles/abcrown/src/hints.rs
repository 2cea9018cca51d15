//! Slopes: those of the dump, at the coordinates of the graph.

use crate::disjuncts::{Atom, atoms};
use crate::dump::{Floats, Tensors};
use crate::error::ConvertError;
use crate::problem::Relu;
use crate::tree::Source;
use certkern_onnx::Dtype;
use std::collections::{BTreeMap, BTreeSet};

/// A tensor of the certificate: name, type, shape, little-endian elements.
pub(crate) type OutTensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// What a leaf proves and for whom: a leaf of a tree, a disjunct, and the atom with the best margin.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where the leaf stands in the dump.
    pub(crate) source: Source,
    /// The place of the best atom among those of the leaf.
    pub(crate) atom: usize,
    /// That atom.
    pub(crate) numbers: Atom,
    /// The row of the disjunct that it is.
    pub(crate) row: usize,
    /// Multipliers of the splits on the way: depth and multiplier.
    pub(crate) splits: Vec<(usize, f64)>,
}

/// Slopes for the bounds of the output from the root computation.
struct RootSlopes {
    columns: Vec<u32>,
    /// The place in `slopes` of each row of `root/C` that has slopes.
    rows: BTreeMap<u32, usize>,
    slopes: Floats,
}

/// A tensor of `u32`.
pub(crate) fn u32s(name: impl Into<String>, values: &[u32]) -> OutTensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    (name.into(), Dtype::U32, vec![values.len()], bytes)
}

fn slopes(name: String, shape: [usize; 2], values: &[f32]) -> OutTensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    (name, Dtype::F32, shape.to_vec(), bytes)
}

/// The slopes for the root bounds of the arguments of the ReLUs: `bounds.0.…`. Empty if the dump has none.
///
/// # Errors
/// [`ConvertError::RowsDiffer`] if the slopes for one argument do not all speak of the same coordinates of it, and what reading the
/// tensors can give.
pub(crate) fn bound_slopes(tensors: &Tensors, relus: &[Relu]) -> Result<Vec<OutTensor>, ConvertError> {
    let mut out = Vec::new();
    let mut done = BTreeSet::new();
    for start in relus {
        if !done.insert(start.pre) {
            continue;
        }
        let mut first: Option<(&Relu, Vec<u32>)> = None;
        for act in relus.iter().filter(|act| act.act < start.pre) {
            let Some((rows, columns, values)) = best_alpha(tensors, act, &start.pre_name, start.width)? else {
                continue;
            };
            let shape = [rows.len(), columns.len()];
            let (lower, upper) = values.values.split_at(rows.len() * columns.len());
            let name = |field: &str| format!("bounds.0.{}.{}.{field}", start.pre, act.act);
            out.push(u32s(name("columns"), &columns));
            out.push(slopes(name("lower"), shape, lower));
            out.push(slopes(name("upper"), shape, upper));
            match &first {
                None => {
                    out.push(u32s(format!("bounds.0.{}.rows", start.pre), &rows));
                    first = Some((act, rows));
                }
                Some((other, known)) if *known != rows => {
                    return Err(ConvertError::RowsDiffer {
                        start: start.pre_name.clone(),
                        activations: (other.act_name.clone(), act.act_name.clone()),
                    });
                }
                Some(_) => {}
            }
        }
    }
    Ok(out)
}

/// Rows, columns and slopes of `best_alpha/<act>/<start>`: the lower plane, then the upper plane, each rows by columns.
#[allow(clippy::type_complexity, reason = "the three tensors that belong together")]
fn best_alpha(
    tensors: &Tensors,
    act: &Relu,
    start: &str,
    width: usize,
) -> Result<Option<(Vec<u32>, Vec<u32>, Floats)>, ConvertError> {
    let name = |field: &str| format!("best_alpha/{}/{start}/{field}", act.act_name);
    let Some(values) = tensors.floats(&name("val"))? else { return Ok(None) };
    let missing = |field| ConvertError::MissingTensor(name(field));
    let rows = tensors.indices(&name("rows"), width)?.ok_or_else(|| missing("rows"))?;
    let columns = tensors.indices(&name("cols"), act.width)?.ok_or_else(|| missing("cols"))?;
    let values = values.with_shape(&[2, rows.len(), columns.len()])?.into_slopes()?;
    Ok(Some((rows, columns, values)))
}

/// The slopes at leaves: `leaf.<act>.columns` and `leaf.<act>.slope`. Empty if the dump has none. `leaves` are the numbers of leaves and
/// of their atoms in the tensors.
///
/// # Errors
/// What reading the tensors can give.
pub(crate) fn leaf_slopes(
    tensors: &Tensors,
    relus: &[Relu],
    final_name: &str,
    entries: &[Entry],
    leaves: [usize; 2],
) -> Result<Vec<OutTensor>, ConvertError> {
    let root_rows = root_rows(tensors, entries)?;
    let mut out = Vec::new();
    for act in relus {
        let root = best_alpha(tensors, act, final_name, root_rows.len())?.map(|(rows, columns, slopes)| {
            let rows = rows.into_iter().enumerate().map(|(place, row)| (row, place)).collect();
            RootSlopes { columns, rows, slopes }
        });
        let leaf = leaf_alpha(tensors, act, root.as_ref(), leaves)?;
        let mut columns = leaf.as_ref().map_or_else(Vec::new, |(columns, _)| columns.clone());
        let known: BTreeSet<u32> = columns.iter().copied().collect();
        columns.extend(root.iter().flat_map(|root| &root.columns).filter(|column| !known.contains(column)));
        if columns.is_empty() {
            continue;
        }
        let places: BTreeMap<u32, usize> = columns.iter().enumerate().map(|(place, column)| (*column, place)).collect();
        let defaults = default_slopes(tensors, act, &columns)?;
        let mut values = Vec::with_capacity(entries.len().saturating_mul(columns.len()));
        for entry in entries {
            let given = match entry.source {
                Source::Leaf(row) => leaf.as_ref().and_then(|(own, slopes)| {
                    let start = (row * leaves[1] + entry.atom) * own.len();
                    Some((own, slopes.values.get(start..start + own.len())?))
                }),
                Source::Root => root.as_ref().and_then(|root| {
                    let row = root_rows.iter().position(|atom| atom.coefficients == entry.numbers.coefficients)?;
                    let start = root.rows.get(&u32::try_from(row).ok()?)? * root.columns.len();
                    Some((&root.columns, root.slopes.values.get(start..start + root.columns.len())?))
                }),
                Source::Box(_) => None,
            };
            let mut line = defaults.clone();
            for (column, slope) in given.into_iter().flat_map(|(own, slopes)| own.iter().zip(slopes)) {
                if let Some(place) = places.get(column).and_then(|place| line.get_mut(*place)) {
                    *place = *slope;
                }
            }
            values.extend(line);
        }
        out.push(u32s(format!("leaf.{}.columns", act.act), &columns));
        out.push(slopes(format!("leaf.{}.slope", act.act), [entries.len(), columns.len()], &values));
    }
    Ok(out)
}

/// The rows on which the root slopes were optimised.
fn root_rows(tensors: &Tensors, entries: &[Entry]) -> Result<Vec<Atom>, ConvertError> {
    let outputs = entries.first().map_or(0, |entry| entry.numbers.coefficients.len());
    let Some(coefficients) = tensors.floats("root/C")? else { return Ok(Vec::new()) };
    // The right-hand sides of these rows are not in the dump and do not matter for slopes.
    let rows = coefficients.values.len().checked_div(outputs).unwrap_or(0);
    let bounds = Floats { name: "root/C".to_owned(), shape: vec![rows], values: vec![0.0; rows] };
    atoms(&coefficients, &bounds, outputs)
}

/// Columns and slopes of `leaf_alpha/<act>`. Where a dump leaves the columns out they are those of the root slopes.
fn leaf_alpha(
    tensors: &Tensors,
    act: &Relu,
    root: Option<&RootSlopes>,
    [leaves, atoms]: [usize; 2],
) -> Result<Option<(Vec<u32>, Floats)>, ConvertError> {
    let Some(slopes) = tensors.floats(&format!("leaf_alpha/{}", act.act_name))? else { return Ok(None) };
    let name = format!("leaf_alpha_cols/{}", act.act_name);
    let columns = match (tensors.indices(&name, act.width)?, root) {
        (Some(columns), _) => columns,
        (None, Some(root)) => root.columns.clone(),
        (None, None) => return Err(ConvertError::MissingTensor(name)),
    };
    let slopes = slopes.with_shape(&[leaves, atoms, columns.len()])?.into_slopes()?;
    Ok(Some((columns, slopes)))
}

/// The slopes that stand where the dump gives none, since a tensor has no holes: 1 if `u > −l` and 0 otherwise, as the kernel would
/// choose, by the root bounds that the dump claims. Any slope in [0, 1] is sound.
fn default_slopes(tensors: &Tensors, act: &Relu, columns: &[u32]) -> Result<Vec<f32>, ConvertError> {
    let side = |side| tensors.needed(&format!("root/interm/{}/{side}", act.pre_name))?.with_len(act.width);
    let (lower, upper) = (side("l")?.values, side("u")?.values);
    Ok(columns
        .iter()
        .map(|column| {
            let column = *column as usize;
            match (lower.get(column), upper.get(column)) {
                (Some(lower), Some(upper)) if *upper > -*lower => 1.0,
                _ => 0.0,
            }
        })
        .collect())
}
