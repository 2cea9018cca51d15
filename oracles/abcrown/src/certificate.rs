//! The certificate of a dump: trees and hints.

use crate::box_tree::{self, BoxFault, Boxes};
use crate::disjuncts::{Atom, Group, Groups, atoms, row_indices, text_of_atoms, text_of_disjunct};
use crate::dump::{Floats, Tensors, wrong_shape};
use crate::error::ConvertError;
use crate::hints::{self, Entry, OutTensor, u32s};
use crate::manifest::{Leaf, Manifest};
use crate::problem::{Neurons, Problem};
use crate::relu_tree::{self, Literal, SplitLeaf};
use crate::tree::{Source, Tree, TreeNode};
use certkern_onnx::Dtype;
use std::collections::BTreeMap;

/// The two files of a certificate.
pub(crate) struct Certificate {
    /// `cert.json`.
    pub(crate) document: Vec<u8>,
    /// The tensors of `cert.safetensors`.
    pub(crate) tensors: Vec<OutTensor>,
}

/// Everything that the parts of the conversion read.
struct Context<'a> {
    manifest: &'a Manifest,
    tensors: &'a Tensors<'a>,
    problem: &'a Problem,
    neurons: Vec<Neurons>,
    groups: Groups,
    /// The claimed bounds and right-hand sides of all atoms at the root, if the dump has them.
    root_margins: Option<Vec<f64>>,
}

/// What a leaf of the dump closes: its atoms and their margins.
struct Closed {
    atoms: Vec<Atom>,
    margins: Vec<f64>,
}

/// Trees, and what their leaves close by rows of the dump.
type Found = (Vec<Tree>, BTreeMap<usize, Closed>);

/// Converts a dump.
///
/// # Errors
/// A [`ConvertError`] that names the place in the dump.
pub(crate) fn assemble(manifest: &Manifest, tensors: &Tensors, problem: &Problem) -> Result<Certificate, ConvertError> {
    check_norm(manifest)?;
    let neurons = problem.map_nodes(manifest)?;
    let region = problem.region(tensors)?;
    let groups = Groups::read(tensors, &problem.property)?;
    let root_margins = root_margins(tensors, &groups)?;
    let context = Context { manifest, tensors, problem, neurons, groups, root_margins };
    let (mut trees, closed) = match (manifest.leaves.is_empty(), tensors.floats("box/x_L")?) {
        (false, Some(boxes)) if !boxes.values.is_empty() => return Err(ConvertError::MixedSplits),
        (true, Some(lower)) if !lower.values.is_empty() => context.box_trees(lower, &region)?,
        _ => context.split_trees()?,
    };
    trees.extend(context.root_tree(&trees)?);
    trees.sort_by_key(|tree| tree.disjuncts.first().copied());
    let entries = context.entries(&trees, &closed)?;
    context.write(&trees, &entries)
}

fn check_norm(manifest: &Manifest) -> Result<(), ConvertError> {
    match &manifest.norm {
        None => Ok(()),
        Some(norm) if matches!(norm.as_str(), Some("inf" | "Infinity")) => Ok(()),
        Some(norm) => Err(ConvertError::Norm(norm.to_string())),
    }
}

/// The margins that the dump claims for its atoms at the root.
fn root_margins(tensors: &Tensors, groups: &Groups) -> Result<Option<Vec<f64>>, ConvertError> {
    let Some(bounds) = tensors.floats("root/lb")? else { return Ok(None) };
    let bounds = bounds.with_len(groups.rows)?;
    let sides = tensors.needed("spec/rhs")?.with_len(groups.rows)?;
    Ok(Some(bounds.values.iter().zip(&sides.values).map(|(lb, rhs)| f64::from(*lb) - f64::from(*rhs)).collect()))
}

/// The place of the largest margin; NaN counts as least.
fn best(margins: &[f64]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, margin) in margins.iter().enumerate() {
        if *margin > best.1 {
            best = (place, *margin);
        }
    }
    best.0
}

/// Entry `index` of the leading axis of a tensor, which may be shared by all leaves.
fn row_of(tensor: &Floats, index: usize) -> Floats {
    let rows = tensor.shape.first().copied().unwrap_or(0);
    let index = if rows == 1 { 0 } else { index };
    let size = tensor.values.len().checked_div(rows).unwrap_or(0);
    let values = tensor.values.get(index * size..(index + 1) * size).unwrap_or_default().to_vec();
    Floats { name: tensor.name.clone(), shape: tensor.shape.get(1..).unwrap_or_default().to_vec(), values }
}

/// Checks that a tensor has one row for each of `count` leaves, or one for all.
fn rows_fit(tensor: &Floats, count: usize, shared: bool) -> Result<(), ConvertError> {
    match tensor.shape.first() {
        Some(rows) if *rows == count || (shared && *rows == 1) => Ok(()),
        _ => Err(wrong_shape(&tensor.name, &tensor.shape, &format!("one row for each of {count} leaves"))),
    }
}

impl Context<'_> {
    /// The trees of a run with splits of neurons.
    fn split_trees(&self) -> Result<Found, ConvertError> {
        let mut groups: BTreeMap<usize, Vec<SplitLeaf>> = BTreeMap::new();
        let mut closed = BTreeMap::new();
        let leaves = &self.manifest.leaves;
        if !leaves.is_empty() {
            let coefficients = self.tensors.needed("leaf/C")?;
            let rows = coefficients.shape.first().copied().unwrap_or(0);
            for (index, leaf) in leaves.iter().enumerate() {
                // The id of a leaf is its row in the tensors.
                let row = usize::try_from(leaf.id).ok().filter(|row| *row < rows && !closed.contains_key(row));
                let row = row.ok_or(ConvertError::LeafId { index, id: leaf.id, rows })?;
                let (group, close) = self.leaf_group(leaf, &row_of(&coefficients, row))?;
                groups.entry(group).or_default().push(self.split_leaf(row, leaf)?);
                closed.insert(row, close);
            }
        }
        let mut trees = Vec::with_capacity(groups.len());
        for (group, leaves) in groups {
            let disjuncts = self.groups.groups[group].disjuncts.clone();
            trees.push(Tree { nodes: relu_tree::rebuild(&leaves, disjuncts[0])?, disjuncts });
        }
        Ok((trees, closed))
    }

    /// The group of a leaf and what the leaf closes.
    fn leaf_group(&self, leaf: &Leaf, coefficients: &Floats) -> Result<(usize, Closed), ConvertError> {
        let rows = coefficients.shape.first().copied().unwrap_or(0);
        for (key, numbers) in [("lb", &leaf.lb), ("rhs", &leaf.rhs)] {
            if numbers.len() != rows {
                return Err(ConvertError::LeafNumbers { leaf: leaf.id, key, found: numbers.len(), rows });
            }
        }
        // The manifest spells binary32 numbers.
        let rhs = leaf.rhs.iter().map(|rhs| rhs.0 as f32).collect();
        let rhs = Floats { name: "rhs".to_owned(), shape: vec![rows], values: rhs };
        let atoms = atoms(coefficients, &rhs, self.problem.property.outputs)?;
        let margins = leaf.lb.iter().zip(&leaf.rhs).map(|(lb, rhs)| lb.0 - rhs.0).collect();
        match self.groups.group_of(&atoms) {
            Some(group) => Ok((group, Closed { atoms, margins })),
            None => {
                let place = format!("leaf {} of leaf/C", leaf.id);
                Err(ConvertError::ForeignAtoms { place, atoms: text_of_atoms(&atoms) })
            }
        }
    }

    fn split_leaf<'b>(&self, row: usize, leaf: &'b Leaf) -> Result<SplitLeaf<'b>, ConvertError> {
        let literals = leaf.splits.iter().map(|split| {
            let neuron = || format!("{}[{}]", split.layer, split.neuron);
            let split_here = |own: &&Neurons| own.pre_name == split.layer && split.neuron < own.width;
            let neurons = self.neurons.iter().find(split_here).ok_or_else(|| ConvertError::UnknownNode {
                place: format!("a split of leaf {}", leaf.id),
                name: neuron(),
            })?;
            let at_least = match split.sign {
                1 => true,
                -1 => false,
                sign => return Err(ConvertError::Sign { leaf: leaf.id, neuron: neuron(), sign }),
            };
            Ok(Literal {
                layer: &split.layer,
                node: neurons.pre,
                coordinate: split.neuron,
                at_least,
                threshold: split.point.0,
                beta: split.beta.0,
            })
        });
        Ok(SplitLeaf { row, id: leaf.id, literals: literals.collect::<Result<_, _>>()? })
    }

    /// The trees of a run with input splits.
    fn box_trees(&self, lower: Floats, region: &[Vec<f32>; 2]) -> Result<Found, ConvertError> {
        let inputs = self.problem.property.inputs();
        let count = lower.shape.first().copied().unwrap_or(0);
        let lower = lower.with_len(count.saturating_mul(inputs))?;
        let upper = self.tensors.needed("box/x_U")?.with_len(lower.values.len())?;
        let (coefficients, sides) = (self.tensors.needed("box/C")?, self.tensors.needed("box/rhs")?);
        let bounds = self.tensors.needed("box/lb")?;
        rows_fit(&coefficients, count, true)?;
        rows_fit(&sides, count, true)?;
        rows_fit(&bounds, count, false)?;
        // Boxes of one disjunct, or of all of them together (the last key).
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut closed = BTreeMap::new();
        for index in 0..count {
            let rhs = row_of(&sides, index);
            let atoms = atoms(&row_of(&coefficients, index), &rhs, self.problem.property.outputs)?;
            let lb = row_of(&bounds, index).with_len(atoms.len())?;
            let group = match self.groups.group_of(&atoms) {
                Some(group) => group,
                None if self.groups.are_all(&atoms) => self.groups.groups.len(),
                None => {
                    let place = format!("box {index} of box/C");
                    return Err(ConvertError::ForeignAtoms { place, atoms: text_of_atoms(&atoms) });
                }
            };
            members.entry(group).or_default().push(index);
            let margins = lb.values.iter().zip(&rhs.values).map(|(lb, rhs)| f64::from(*lb) - f64::from(*rhs));
            closed.insert(index, Closed { atoms, margins: margins.collect() });
        }
        let wide = |values: &[f32]| -> Vec<f64> { values.iter().copied().map(f64::from).collect() };
        let (lower, upper) = (wide(&lower.values), wide(&upper.values));
        let root = region.each_ref().map(|corner| wide(corner));
        let boxes = Boxes { lower: &lower, upper: &upper, width: inputs };
        let mut trees = Vec::new();
        for (group, members) in members {
            let disjuncts = match self.groups.groups.get(group) {
                Some(group) => group.disjuncts.clone(),
                None => (0..self.problem.property.disjuncts.len()).collect(),
            };
            let nodes = box_tree::rebuild(boxes, members, (&root[0], &root[1]), self.problem.input)
                .map_err(|fault| ConvertError::Boxes { disjunct: disjuncts[0], fault })?;
            trees.push(Tree { nodes, disjuncts });
        }
        Ok((trees, closed))
    }

    /// The tree of one leaf that the disjuncts share which the root bounds close.
    fn root_tree(&self, trees: &[Tree]) -> Result<Option<Tree>, ConvertError> {
        let mut disjuncts = Vec::new();
        for group in &self.groups.groups {
            if group.disjuncts.iter().any(|d| trees.iter().any(|tree| tree.disjuncts.contains(d))) {
                continue;
            }
            let margins = self.margins_at_root(group);
            let margin = margins.map(|margins| margins[best(margins)]);
            // Without claimed bounds the dump can still say that plain CROWN closed all rows.
            let closes = margin.map_or(self.manifest.fast_path_initial_crown, |margin| margin > 0.0);
            if !closes {
                let disjunct = group.disjuncts[0];
                let rows = text_of_disjunct(&self.problem.property, disjunct);
                return Err(ConvertError::DisjunctOpen { disjunct, rows, margin });
            }
            disjuncts.extend(&group.disjuncts);
        }
        disjuncts.sort_unstable();
        let nodes = vec![TreeNode::Leaf { source: Source::Root, splits: Vec::new() }];
        Ok((!disjuncts.is_empty()).then_some(Tree { nodes, disjuncts }))
    }

    /// The margins of the atoms of a group at the root; not empty.
    fn margins_at_root(&self, group: &Group) -> Option<&[f64]> {
        let margins = self.root_margins.as_ref()?;
        margins.get(group.first_row..group.first_row + group.atoms.len())
    }

    /// The entries of these trees, in order.
    fn entries(&self, trees: &[Tree], closed: &BTreeMap<usize, Closed>) -> Result<Vec<Entry>, ConvertError> {
        let mut entries = Vec::new();
        for tree in trees {
            for node in &tree.nodes {
                let TreeNode::Leaf { source, splits } = node else { continue };
                for &disjunct in &tree.disjuncts {
                    let rows = || text_of_disjunct(&self.problem.property, disjunct);
                    let entry = self.entry(*source, splits, disjunct, closed);
                    entries.push(entry.ok_or_else(|| ConvertError::LackingDisjunct { disjunct, rows: rows() })?);
                }
            }
        }
        Ok(entries)
    }

    /// The entry of a leaf for a disjunct; `None` if the leaf does not speak of it.
    fn entry(
        &self,
        source: Source,
        splits: &[(usize, f64)],
        disjunct: usize,
        closed: &BTreeMap<usize, Closed>,
    ) -> Option<Entry> {
        let group = self.groups.groups.iter().find(|group| group.disjuncts.contains(&disjunct))?;
        let zeros = vec![0.0; group.atoms.len()];
        let (atoms, margins, start) = match source {
            Source::Root => (group.atoms.as_slice(), self.margins_at_root(group).unwrap_or(&zeros), 0),
            Source::Leaf(row) | Source::Box(row) => {
                let closed = closed.get(&row)?;
                let (atoms, margins) = (closed.atoms.as_slice(), closed.margins.as_slice());
                if self.groups.group_of(atoms).is_some() {
                    (atoms, margins, 0)
                } else {
                    // A leaf for all disjuncts holds the atoms of all of them, in the order of the dump.
                    let range = group.first_row..group.first_row + group.atoms.len();
                    (atoms.get(range.clone())?, margins.get(range)?, group.first_row)
                }
            }
        };
        let place = best(margins);
        let rows = row_indices(&self.problem.property, disjunct, atoms)?;
        Some(Entry {
            source,
            atom: start + place,
            numbers: atoms.get(place)?.clone(),
            row: *rows.get(place)?,
            splits: splits.to_vec(),
        })
    }

    /// The files.
    fn write(&self, trees: &[Tree], entries: &[Entry]) -> Result<Certificate, ConvertError> {
        let mut tensors = tree_tensors(trees);
        tensors.extend(entry_tensors(entries));
        let mut set = "plain";
        // Slopes of the root would be no good in the boxes, where the run used the default slopes.
        if !trees.iter().any(|tree| tree.nodes.iter().any(of_box)) {
            let bound_slopes = hints::bound_slopes(self.tensors, &self.neurons)?;
            if !bound_slopes.is_empty() {
                set = "slopes";
            }
            tensors.extend(bound_slopes);
            let leaves = match self.tensors.floats("leaf/C")?.as_ref().map(|c| c.shape.as_slice()) {
                Some([leaves, atoms, _]) => [*leaves, *atoms],
                _ => [0; 2],
            };
            tensors.extend(hints::leaf_slopes(self.tensors, &self.neurons, self.manifest, entries, leaves)?);
        }
        let mut tree_of = vec![0; self.problem.property.disjuncts.len()];
        for (number, tree) in trees.iter().enumerate() {
            for disjunct in &tree.disjuncts {
                if let Some(place) = tree_of.get_mut(*disjunct) {
                    *place = number;
                }
            }
        }
        Ok(Certificate { document: document(&tree_of, set), tensors })
    }
}

/// The certificate of a run whose leaves are boxes and of which nothing else is known: one tree for all `disjuncts`, with bounds of its own at each leaf. The boxes
/// are to tile the box `root` of the input node `input`; of each corner there are as many numbers in a row as that has, and at least one corner.
///
/// # Errors
/// Why the boxes are not the leaves of a tree.
pub(crate) fn of_boxes(
    (lower, upper): (&[f64], &[f64]),
    root: (&[f64], &[f64]),
    input: usize,
    disjuncts: usize,
) -> Result<Certificate, BoxFault> {
    let width = root.0.len();
    let members = (0..lower.len().checked_div(width).unwrap_or(0)).collect();
    let nodes = box_tree::rebuild(Boxes { lower, upper, width }, members, root, input)?;
    let tree = Tree { nodes, disjuncts: (0..disjuncts).collect() };
    Ok(Certificate { document: document(&vec![0; disjuncts], "plain"), tensors: tree_tensors(&[tree]) })
}

/// `cert.json`, with the tree of each disjunct and the kind of the one bound set.
fn document(trees: &[usize], set: &str) -> Vec<u8> {
    serde_json::json!({"format": "certkern.leaves.v1", "trees": trees, "bounds": [set]}).to_string().into_bytes()
}

/// A place in an array. Trees and hints of more than 2³² parts do not fit the format, and no dump holds them.
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// A tensor of reals: `F32` if that holds all of them exactly (NaN is NaN in both), else `F64`.
fn reals(name: &str, values: &[f64]) -> OutTensor {
    let exact = values.iter().all(|value| value.is_nan() || f64::from(*value as f32) == *value);
    let (dtype, bytes) = if exact {
        (Dtype::F32, values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect())
    } else {
        (Dtype::F64, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    };
    (name.to_owned(), dtype, vec![values.len()], bytes)
}

/// The tensors `tree.…` and `threshold.value`.
fn tree_tensors(trees: &[Tree]) -> Vec<OutTensor> {
    let mut offsets = vec![0];
    let (mut kinds, mut places, mut coordinates) = (Vec::new(), Vec::new(), Vec::new());
    let (mut numbers, mut bounds) = (Vec::new(), Vec::new());
    let mut thresholds: Vec<f64> = Vec::new();
    let mut known: BTreeMap<u64, usize> = BTreeMap::new();
    for tree in trees {
        for (place, node) in tree.nodes.iter().enumerate() {
            let (kind, [graph_node, coordinate, number]) = match node {
                TreeNode::Leaf { .. } => (0_u8, [0; 3]),
                TreeNode::Split { node, coordinate, threshold } => {
                    let number = *known.entry(threshold.to_bits()).or_insert_with(|| {
                        thresholds.push(*threshold);
                        thresholds.len() - 1
                    });
                    (1, [*node, *coordinate, number])
                }
            };
            // Boxes get their own bounds at each leaf, where the region is small; ReLU splits inherit those of the root.
            let applies = match node {
                TreeNode::Leaf { source: Source::Box(_), .. } => true,
                _ => place == 0 && !tree.nodes.iter().any(of_box),
            };
            kinds.push(kind);
            places.push(narrow(graph_node));
            coordinates.push(narrow(coordinate));
            numbers.push(narrow(number));
            bounds.push(u32::from(applies));
        }
        offsets.push(narrow(kinds.len()));
    }
    let mut tensors = vec![
        u32s("tree.offset", &offsets),
        ("tree.kind".to_owned(), Dtype::U8, vec![kinds.len()], kinds),
        u32s("tree.node", &places),
        u32s("tree.coordinate", &coordinates),
        u32s("tree.threshold", &numbers),
        u32s("tree.bounds", &bounds),
    ];
    if !thresholds.is_empty() {
        tensors.push(reals("threshold.value", &thresholds));
    }
    tensors
}

fn of_box(node: &TreeNode) -> bool {
    matches!(node, TreeNode::Leaf { source: Source::Box(_), .. })
}

/// The tensors `leaf.rows.…` and `leaf.splits.…`.
fn entry_tensors(entries: &[Entry]) -> Vec<OutTensor> {
    let rows: Vec<u32> = entries.iter().map(|entry| narrow(entry.row)).collect();
    let row_offsets: Vec<u32> = (0..=entries.len()).map(narrow).collect();
    let mut split_offsets = vec![0];
    let (mut depths, mut multipliers) = (Vec::new(), Vec::new());
    for entry in entries {
        for (depth, multiplier) in &entry.splits {
            depths.push(narrow(*depth));
            multipliers.push(*multiplier);
        }
        split_offsets.push(narrow(depths.len()));
    }
    let mut tensors = vec![
        u32s("leaf.rows.offset", &row_offsets),
        u32s("leaf.rows.index", &rows),
        reals("leaf.rows.multiplier", &vec![1.0; rows.len()]),
    ];
    if !depths.is_empty() {
        tensors.push(u32s("leaf.splits.offset", &split_offsets));
        tensors.push(u32s("leaf.splits.depth", &depths));
        tensors.push(reals("leaf.splits.multiplier", &multipliers));
    }
    tensors
}

#[cfg(test)]
mod tests;
