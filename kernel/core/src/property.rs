//! Properties: a region of inputs and an unsafe set in disjunctive form (PROPERTY in the rules).

use crate::num::Rational;

/// A variable of a property: a coordinate of the flattened input, or of the flattened outputs in the order of the output ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// Input coordinate.
    X(usize),
    /// Output coordinate.
    Y(usize),
}

/// The half-space `Σ cᵢ·vᵢ ≤ bound`, or `< bound` where `strict`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Coefficients by ascending variable, none of them zero, each variable once.
    pub terms: Vec<(Variable, Rational)>,
    /// The right-hand side.
    pub bound: Rational,
    /// Whether the half-space is open.
    pub strict: bool,
}

/// The box of inputs and the unsafe set `⋃_d ⋂_row row`. The proposition that certkern decides is: for every `x` in the
/// box `F(x)` is defined and `(x, F(x))` is not in the unsafe set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Lower ends, one for each input coordinate.
    pub lower: Vec<Rational>,
    /// Upper ends, each at least its lower end.
    pub upper: Vec<Rational>,
    /// The number of output variables.
    pub outputs: usize,
    /// The disjuncts in the order of the document, at least one; a disjunct without rows is the whole space.
    pub disjuncts: Vec<Vec<Row>>,
}

impl Property {
    /// The number of input variables.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.lower.len()
    }
}

impl Row {
    /// `Some((coordinate, coefficient))` if the row speaks of one input coordinate alone.
    #[must_use]
    pub fn single_input(&self) -> Option<(usize, &Rational)> {
        match self.terms.as_slice() {
            [(Variable::X(coordinate), coefficient)] => Some((*coordinate, coefficient)),
            _ => None,
        }
    }
}
