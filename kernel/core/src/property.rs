//! Properties: a region of inputs and an unsafe set in disjunctive form (PROPERTY in the rules).

use crate::num::Rational;
use num_traits::Signed;

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

    /// How far `(x, y)` lies inside the half-space, `bound − Σ cᵢ·vᵢ`; below zero outside. `None` if a variable does not exist.
    #[must_use]
    pub fn slack(&self, x: &[Rational], y: &[Rational]) -> Option<Rational> {
        let value = |variable: &Variable| match variable {
            Variable::X(i) => x.get(*i),
            Variable::Y(i) => y.get(*i),
        };
        self.terms.iter().try_fold(self.bound.clone(), |left, (variable, c)| Some(left - c * value(variable)?))
    }

    /// Whether a point with this slack satisfies the row.
    #[must_use]
    pub fn holds(&self, slack: &Rational) -> bool {
        if self.strict { slack.is_positive() } else { !slack.is_negative() }
    }
}
