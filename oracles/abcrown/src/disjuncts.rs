//! The disjuncts of the dump and those of the exact property, matched by their numbers.

use crate::dump::{Floats, Tensors, wrong_shape};
use crate::error::ConvertError;
use crate::problem::rounds_to;
use certkern_core::property::{Property, Row, Variable};
use num_traits::ToPrimitive;
use std::sync::Arc;

/// A row of the dump: `coefficients · y ≤ bound`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atom {
    pub(crate) coefficients: Vec<f32>,
    pub(crate) bound: f32,
}

/// Disjuncts of the property that are one disjunct of the dump: their rows on outputs are the same.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The rows, as the dump has them.
    pub(crate) atoms: Vec<Atom>,
    /// The disjuncts of the property, ascending.
    pub(crate) disjuncts: Vec<usize>,
    /// The place of the first atom among all atoms of the dump.
    pub(crate) first_row: usize,
}

/// All disjuncts of a dump.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The groups; every disjunct of the property is in one of them.
    pub(crate) groups: Vec<Group>,
    /// The number of atoms of the dump.
    pub(crate) rows: usize,
}

/// A row of the property in binary64, and its place in its disjunct.
struct OutputRow {
    index: usize,
    coefficients: Vec<f64>,
    bound: f64,
}

/// The atoms of a tensor of coefficients whose last axis is the outputs, and of the right-hand sides.
///
/// # Errors
/// [`ConvertError::TensorShape`] if there is not one right-hand side for each row.
pub(crate) fn atoms(coefficients: &Floats, bounds: &Floats, outputs: usize) -> Result<Vec<Atom>, ConvertError> {
    if coefficients.shape.last() != Some(&outputs) || outputs == 0 {
        return Err(wrong_shape(&coefficients.name, &coefficients.shape, &format!("rows of {outputs} outputs")));
    }
    let rows = coefficients.values.chunks_exact(outputs);
    if rows.len() != bounds.values.len() {
        return Err(wrong_shape(&bounds.name, &bounds.shape, &format!("{} right-hand sides", rows.len())));
    }
    Ok(rows
        .zip(&bounds.values)
        .map(|(coefficients, bound)| Atom { coefficients: coefficients.to_vec(), bound: *bound })
        .collect())
}

impl Groups {
    /// Reads `spec/C`, `spec/rhs` and `spec/or_spec_size` and matches them to the property.
    ///
    /// # Errors
    /// [`ConvertError::ForeignAtoms`] and [`ConvertError::LackingDisjunct`] if the two do not speak of the same disjuncts,
    /// [`ConvertError::UnsupportedDisjunct`], and what reading the tensors can give.
    pub(crate) fn read(tensors: &Tensors, property: &Property) -> Result<Self, ConvertError> {
        let all = atoms(&tensors.needed("spec/C")?, &tensors.needed("spec/rhs")?, property.outputs)?;
        let sizes = tensors
            .integers("spec/or_spec_size")?
            .ok_or_else(|| ConvertError::MissingTensor("spec/or_spec_size".to_owned()))?;
        let mut parts = Vec::with_capacity(sizes.len());
        let mut end = 0_usize;
        for size in &sizes {
            let start = end;
            end = usize::try_from(*size).map_or(usize::MAX, |size| start.saturating_add(size));
            match all.get(start..end) {
                Some(part) if !part.is_empty() => parts.push((start, part)),
                _ => break,
            }
        }
        if end != all.len() || parts.len() != sizes.len() {
            let wanted = format!("positive sizes that add up to the {} rows of spec/C", all.len());
            return Err(wrong_shape("spec/or_spec_size", &[sizes.len()], &wanted));
        }
        Self::of(&parts, all.len(), property)
    }

    fn of(parts: &[(usize, &[Atom])], rows: usize, property: &Property) -> Result<Self, ConvertError> {
        let disjuncts = (0..property.disjuncts.len())
            .map(|disjunct| output_rows(property, disjunct))
            .collect::<Result<Vec<_>, _>>()?;
        let mut taken = vec![false; disjuncts.len()];
        let mut groups: Vec<Group> = Vec::new();
        for (number, (first_row, part)) in parts.iter().enumerate() {
            let same: Vec<usize> = (0..disjuncts.len()).filter(|d| places_of(part, &disjuncts[*d]).is_some()).collect();
            if same.is_empty() {
                let place = format!("disjunct {number} of spec/C");
                return Err(ConvertError::ForeignAtoms { place, atoms: text_of_atoms(part) });
            }
            let own: Vec<usize> = same.into_iter().filter(|d| !std::mem::replace(&mut taken[*d], true)).collect();
            if !own.is_empty() {
                groups.push(Group { atoms: part.to_vec(), disjuncts: own, first_row: *first_row });
            }
        }
        match taken.iter().position(|taken| !taken) {
            Some(disjunct) => {
                Err(ConvertError::LackingDisjunct { disjunct, rows: text_of_disjunct(property, disjunct) })
            }
            None => Ok(Self { groups, rows }),
        }
    }

    /// The group with exactly these atoms, in any order.
    pub(crate) fn group_of(&self, atoms: &[Atom]) -> Option<usize> {
        self.groups.iter().position(|group| {
            atoms.iter().all(|atom| group.atoms.contains(atom)) && group.atoms.iter().all(|atom| atoms.contains(atom))
        })
    }

    /// Whether these are the atoms of all groups together, in the order of the dump.
    pub(crate) fn are_all(&self, atoms: &[Atom]) -> bool {
        atoms.len() == self.rows
            && self.groups.iter().all(|group| {
                atoms.get(group.first_row..group.first_row.saturating_add(group.atoms.len()))
                    == Some(group.atoms.as_slice())
            })
    }
}

/// For each atom the place of its row in the disjunct; `None` unless atoms and rows on outputs are the same set.
pub(crate) fn row_indices(property: &Property, disjunct: usize, atoms: &[Atom]) -> Option<Vec<usize>> {
    places_of(atoms, &output_rows(property, disjunct).ok()?)
}

fn places_of(atoms: &[Atom], rows: &[OutputRow]) -> Option<Vec<usize>> {
    let same = |atom: &Atom, row: &OutputRow| {
        rounds_to(row.bound, atom.bound)
            && row.coefficients.len() == atom.coefficients.len()
            && row.coefficients.iter().zip(&atom.coefficients).all(|(exact, rounded)| rounds_to(*exact, *rounded))
    };
    if rows.iter().any(|row| !atoms.iter().any(|atom| same(atom, row))) {
        return None;
    }
    atoms.iter().map(|atom| rows.iter().find(|row| same(atom, row)).map(|row| row.index)).collect()
}

/// The rows of a disjunct that speak of outputs. Those that speak of inputs alone are the region or tighten it; a dump leaves them out.
fn output_rows(property: &Property, disjunct: usize) -> Result<Vec<OutputRow>, ConvertError> {
    let mut rows = Vec::new();
    for (index, row) in property.disjuncts.get(disjunct).into_iter().flatten().enumerate() {
        let mut coefficients = vec![0.0; property.outputs];
        let (mut on_inputs, mut on_outputs) = (false, false);
        for (variable, coefficient) in &row.terms {
            match variable {
                Variable::X(_) => on_inputs = true,
                Variable::Y(y) => {
                    on_outputs = true;
                    if let Some(place) = coefficients.get_mut(*y) {
                        *place = coefficient.to_f64().unwrap_or(f64::NAN);
                    }
                }
            }
        }
        if on_inputs && on_outputs {
            return Err(unsupported(property, disjunct));
        }
        if on_outputs {
            rows.push(OutputRow { index, coefficients, bound: row.bound.to_f64().unwrap_or(f64::NAN) });
        }
    }
    if rows.is_empty() { Err(unsupported(property, disjunct)) } else { Ok(rows) }
}

fn unsupported(property: &Property, disjunct: usize) -> ConvertError {
    ConvertError::UnsupportedDisjunct { disjunct, rows: text_of_disjunct(property, disjunct) }
}

/// The rows of a disjunct that speak of outputs, for a message.
pub(crate) fn text_of_disjunct(property: &Property, disjunct: usize) -> String {
    let on_outputs = |row: &&Arc<Row>| row.terms.iter().any(|(variable, _)| matches!(variable, Variable::Y(_)));
    let rows = property.disjuncts.get(disjunct).into_iter().flatten().filter(on_outputs).map(|row| {
        let terms = row.terms.iter().map(|(variable, coefficient)| {
            let name = match variable {
                Variable::X(x) => format!("X_{x}"),
                Variable::Y(y) => format!("Y_{y}"),
            };
            (coefficient.to_f64().unwrap_or(f64::NAN).to_string(), name)
        });
        text_of_row(terms, &row.bound.to_f64().unwrap_or(f64::NAN).to_string())
    });
    let text = rows.collect::<Vec<_>>().join(" and ");
    if text.is_empty() { "no row on outputs".to_owned() } else { text }
}

/// Atoms for a message.
pub(crate) fn text_of_atoms(atoms: &[Atom]) -> String {
    let rows = atoms.iter().map(|atom| {
        let terms = atom.coefficients.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
        text_of_row(terms.map(|(y, coefficient)| (coefficient.to_string(), format!("Y_{y}"))), &atom.bound.to_string())
    });
    rows.collect::<Vec<_>>().join(" and ")
}

/// A row from its coefficients, as text, and the names of their variables.
fn text_of_row(terms: impl Iterator<Item = (String, String)>, bound: &str) -> String {
    let mut text = String::new();
    for (coefficient, name) in terms {
        let (negative, size) = match coefficient.strip_prefix('-') {
            Some(size) => (true, size),
            None => (false, coefficient.as_str()),
        };
        text.push_str(match (negative, text.is_empty()) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        });
        if size != "1" {
            text.push_str(size);
            text.push('·');
        }
        text.push_str(&name);
    }
    format!("{} ≤ {bound}", if text.is_empty() { "0" } else { &text })
}
