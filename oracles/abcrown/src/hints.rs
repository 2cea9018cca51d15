//! Slopes: those of the dump, or those of tangents at the points of the dump, at the coordinates of the graph.

use crate::activation::Activation;
use crate::disjuncts::{Atom, atoms};
use crate::dump::{Floats, Tensors};
use crate::error::ConvertError;
use crate::manifest::{Leaf, Manifest};
use crate::problem::Neurons;
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

/// Lower and upper ends of the arguments of neurons.
type Bounds = Vec<(f64, f64)>;

/// Slopes of lower lines and, unless the kernel is to choose them, of upper lines: matrices of one shape.
#[derive(Clone, Debug, Default)]
struct Lines {
    lower: Vec<f32>,
    upper: Option<Vec<f32>>,
}

/// Slopes of an activation for the bounds of some rows of a node.
struct NodeLines {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// For the passes from below and from above.
    passes: [Lines; 2],
}

/// Slopes at leaves, a row for each leaf and atom.
type LeafLines = (Vec<u32>, Lines);

impl Lines {
    /// Rows `range` of elements.
    fn part(&self, range: std::ops::Range<usize>) -> Option<Self> {
        let upper = match &self.upper {
            Some(upper) => Some(upper.get(range.clone())?.to_vec()),
            None => None,
        };
        Some(Self { lower: self.lower.get(range)?.to_vec(), upper })
    }

    fn push(&mut self, activation: Activation, [lower, upper]: [f64; 2]) {
        self.lower.push(lower as f32);
        if activation != Activation::Relu {
            self.upper.get_or_insert_default().push(upper as f32);
        }
    }

    /// Overwrites element `place` by element `from` of `other`.
    fn set(&mut self, place: usize, other: &Self, from: usize) {
        let copy = |to: &mut [f32], own: &[f32]| {
            if let (Some(to), Some(value)) = (to.get_mut(place), own.get(from)) {
                *to = *value;
            }
        };
        copy(&mut self.lower, &other.lower);
        if let (Some(to), Some(own)) = (&mut self.upper, &other.upper) {
            copy(to, own);
        }
    }

    fn extend(&mut self, other: Self) {
        self.lower.extend(other.lower);
        if let Some(upper) = other.upper {
            self.upper.get_or_insert_default().extend(upper);
        }
    }

    /// The tensors of these slopes.
    fn tensors(&self, names: [String; 2], shape: [usize; 2]) -> impl Iterator<Item = OutTensor> {
        let [lower, upper] = names;
        let upper = self.upper.as_ref().map(|values| slopes(upper, shape, values));
        std::iter::once(slopes(lower, shape, &self.lower)).chain(upper)
    }
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

/// The slopes for the root bounds of the arguments of the activations: `bounds.0.…`. Empty if the dump has none.
///
/// # Errors
/// [`ConvertError::RowsDiffer`] if the slopes for one argument do not all speak of the same coordinates of it, and what reading the
/// tensors can give.
pub(crate) fn bound_slopes(tensors: &Tensors, neurons: &[Neurons]) -> Result<Vec<OutTensor>, ConvertError> {
    let mut out = Vec::new();
    let mut done = BTreeSet::new();
    for start in neurons {
        if !done.insert(start.pre) {
            continue;
        }
        let mut first: Option<(&Neurons, Vec<u32>)> = None;
        for act in neurons.iter().filter(|act| act.act < start.pre) {
            let Some(NodeLines { rows, columns, passes }) = best_alpha(tensors, act, &start.pre_name, start.width)?
            else {
                continue;
            };
            let shape = [rows.len(), columns.len()];
            let name = |field: &str| format!("bounds.0.{}.{}.{field}", start.pre, act.act);
            out.push(u32s(name("columns"), &columns));
            for (pass, lines) in ["lower", "upper"].into_iter().zip(&passes) {
                out.extend(lines.tensors([name(pass), name(&format!("{pass}.high"))], shape));
            }
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

/// The slopes of `best_alpha/<act>/<start>`.
fn best_alpha(tensors: &Tensors, act: &Neurons, start: &str, width: usize) -> Result<Option<NodeLines>, ConvertError> {
    let name = |field: &str| format!("best_alpha/{}/{start}/{field}", act.act_name);
    let Some(values) = tensors.floats(&name("val"))? else { return Ok(None) };
    let missing = |field| ConvertError::MissingTensor(name(field));
    let rows = tensors.indices(&name("rows"), width)?.ok_or_else(|| missing("rows"))?;
    let columns = tensors.indices(&name("cols"), act.width)?.ok_or_else(|| missing("cols"))?;
    let size = rows.len() * columns.len();
    let passes = if act.activation == Activation::Relu {
        let values = values.with_shape(&[2, rows.len(), columns.len()])?.into_slopes()?.values;
        let (below, above) = values.split_at(size);
        [below, above].map(|values| Lines { lower: values.to_vec(), upper: None })
    } else {
        let planes = values.with_shape(&[8, rows.len(), columns.len()])?.values;
        let bounds = root_bounds(tensors, act)?;
        // Each kind of tangent has a plane for each pass.
        [0, 1].map(|pass| {
            tangent_lines(act, &columns, &bounds, size, |kind, place| planes.get((2 * kind + pass) * size + place))
        })
    };
    Ok(Some(NodeLines { rows, columns, passes }))
}

/// The lines of tangents at points: of a matrix of `size` elements `point(kind, place)` gives that of each of the four kinds.
fn tangent_lines<'a>(
    act: &Neurons,
    columns: &[u32],
    bounds: &Bounds,
    size: usize,
    point: impl Fn(usize, usize) -> Option<&'a f32>,
) -> Lines {
    let mut lines = Lines { lower: Vec::with_capacity(size), upper: Some(Vec::with_capacity(size)) };
    for (place, column) in (0..size).zip(columns.iter().cycle()) {
        let ends = bounds.get(*column as usize).copied().unwrap_or((f64::NAN, f64::NAN));
        let points = [0, 1, 2, 3].map(|kind| point(kind, place).map_or(f64::NAN, |point| f64::from(*point)));
        lines.push(act.activation, act.activation.slopes(ends, points));
    }
    lines
}

/// The slopes at leaves: `leaf.<act>.columns`, `leaf.<act>.slope` and `leaf.<act>.high`. Empty if the dump has none. `leaves` are the numbers of
/// leaves and of their atoms in the tensors.
///
/// # Errors
/// What reading the tensors can give.
pub(crate) fn leaf_slopes(
    tensors: &Tensors,
    neurons: &[Neurons],
    manifest: &Manifest,
    entries: &[Entry],
    leaves: [usize; 2],
) -> Result<Vec<OutTensor>, ConvertError> {
    let root_rows = root_rows(tensors, entries)?;
    let mut out = Vec::new();
    for act in neurons {
        let root = best_alpha(tensors, act, &manifest.final_name, root_rows.len())?;
        let leaf = if act.activation == Activation::Relu {
            leaf_alpha(tensors, act, root.as_ref(), leaves)?
        } else {
            leaf_tangents(tensors, act, root.as_ref(), &manifest.leaves, leaves)?
        };
        let mut columns = leaf.as_ref().map_or_else(Vec::new, |(columns, _)| columns.clone());
        let known: BTreeSet<u32> = columns.iter().copied().collect();
        columns.extend(root.iter().flat_map(|root| &root.columns).filter(|column| !known.contains(column)));
        if columns.is_empty() {
            continue;
        }
        let places: BTreeMap<u32, usize> = columns.iter().enumerate().map(|(place, column)| (*column, place)).collect();
        // What stands where the dump gives no slopes, since a tensor has no holes.
        let bounds = root_bounds(tensors, act)?;
        let mut defaults = Lines::default();
        for column in &columns {
            let ends = bounds.get(*column as usize).copied().unwrap_or((f64::NAN, f64::NAN));
            defaults.push(act.activation, act.activation.default_slopes(ends));
        }
        let mut values = Lines::default();
        for entry in entries {
            let given = match entry.source {
                Source::Leaf(row) => leaf.as_ref().and_then(|(own, lines)| {
                    let start = (row * leaves[1] + entry.atom) * own.len();
                    Some((own, lines.part(start..start + own.len())?))
                }),
                Source::Root => root.as_ref().and_then(|NodeLines { rows, columns, passes: [lines, _] }| {
                    let row = root_rows.iter().position(|atom| atom.coefficients == entry.numbers.coefficients)?;
                    let start = rows.iter().position(|own| *own as usize == row)? * columns.len();
                    Some((columns, lines.part(start..start + columns.len())?))
                }),
                Source::Box(_) => None,
            };
            let mut line = defaults.clone();
            for (own, lines) in given.iter() {
                for (from, column) in own.iter().enumerate() {
                    if let Some(place) = places.get(column) {
                        line.set(*place, lines, from);
                    }
                }
            }
            values.extend(line);
        }
        out.push(u32s(format!("leaf.{}.columns", act.act), &columns));
        let names = ["slope", "high"].map(|field| format!("leaf.{}.{field}", act.act));
        out.extend(values.tensors(names, [entries.len(), columns.len()]));
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

/// The slopes of `leaf_alpha/<act>`.
fn leaf_alpha(
    tensors: &Tensors,
    act: &Neurons,
    root: Option<&NodeLines>,
    [leaves, atoms]: [usize; 2],
) -> Result<Option<LeafLines>, ConvertError> {
    let Some(slopes) = tensors.floats(&format!("leaf_alpha/{}", act.act_name))? else { return Ok(None) };
    let columns = leaf_columns(tensors, act, root)?;
    let slopes = slopes.with_shape(&[leaves, atoms, columns.len()])?.into_slopes()?;
    Ok(Some((columns, Lines { lower: slopes.values, upper: None })))
}

/// The slopes of tangents at the points of `leaf_tangents/<act>`, by the root bounds with the splits of each leaf.
fn leaf_tangents(
    tensors: &Tensors,
    act: &Neurons,
    root: Option<&NodeLines>,
    splits: &[Leaf],
    [leaves, atoms]: [usize; 2],
) -> Result<Option<LeafLines>, ConvertError> {
    let Some(points) = tensors.floats(&format!("leaf_tangents/{}", act.act_name))? else { return Ok(None) };
    let columns = leaf_columns(tensors, act, root)?;
    let points = points.with_shape(&[leaves, 4, atoms, columns.len()])?.values;
    let bounds = root_bounds(tensors, act)?;
    let size = atoms * columns.len();
    let mut lines = Lines::default();
    for row in 0..leaves {
        let mut own = bounds.clone();
        let literals = splits.iter().filter(|leaf| usize::try_from(leaf.id) == Ok(row)).flat_map(|leaf| &leaf.splits);
        for split in literals.filter(|split| split.layer == act.pre_name) {
            if let Some((lower, upper)) = own.get_mut(split.neuron) {
                let point = split.point.0;
                if split.sign > 0 { *lower = lower.max(point) } else { *upper = upper.min(point) }
            }
        }
        lines.extend(tangent_lines(act, &columns, &own, size, |kind, place| {
            points.get((4 * row + kind) * size + place)
        }));
    }
    Ok(Some((columns, lines)))
}

/// `leaf_alpha_cols/<act>`. Where a dump leaves the columns out they are those of the root slopes.
fn leaf_columns(tensors: &Tensors, act: &Neurons, root: Option<&NodeLines>) -> Result<Vec<u32>, ConvertError> {
    let name = format!("leaf_alpha_cols/{}", act.act_name);
    match (tensors.indices(&name, act.width)?, root) {
        (Some(columns), _) => Ok(columns),
        (None, Some(root)) => Ok(root.columns.clone()),
        (None, None) => Err(ConvertError::MissingTensor(name)),
    }
}

/// The root bounds of the arguments of neurons, as the dump claims them.
fn root_bounds(tensors: &Tensors, act: &Neurons) -> Result<Bounds, ConvertError> {
    let side = |side| tensors.needed(&format!("root/interm/{}/{side}", act.pre_name))?.with_len(act.width);
    let (lower, upper) = (side("l")?.values, side("u")?.values);
    Ok(lower.into_iter().zip(upper).map(|(lower, upper)| (f64::from(lower), f64::from(upper))).collect())
}
