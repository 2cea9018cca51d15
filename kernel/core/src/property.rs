//! Properties: a region of inputs and an unsafe set in disjunctive form (PROPERTY in the rules).

use crate::num::Rational;
use num_traits::Signed;
use std::sync::Arc;

/// A variable of a property: a coordinate of the flattened input, or of the flattened outputs in the order of the output ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// Input coordinate.
    X(usize),
    /// Output coordinate.
    Y(usize),
}

/// A number from `lower` to `upper`, which are equal where it is known exactly. Ordered by the lower ends, then by the upper ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// At most the number.
    pub lower: Rational,
    /// At least the number.
    pub upper: Rational,
}

impl Range {
    /// A number that is known.
    #[must_use]
    pub fn exact(value: Rational) -> Self {
        Self { lower: value.clone(), upper: value }
    }

    /// Whether the number is known.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }
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
    pub disjuncts: Vec<Disjunct>,
}

/// The intersection of rows, which products of disjuncts share.
pub type Disjunct = Vec<Arc<Row>>;

/// A disjunct of rows of its own.
#[must_use]
pub fn disjunct(rows: impl IntoIterator<Item = Row>) -> Disjunct {
    rows.into_iter().map(Arc::new).collect()
}

/// What restricts a region beside its box: an input of the region lies in the box, in the ball and in every row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Within {
    /// The ball.
    pub ball: Option<NormBall>,
    /// Closed rows over inputs alone.
    pub rows: Vec<Row>,
}

/// All `x` whose distance from `center` is at most `radius`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormBall {
    /// The distance.
    pub norm: Norm,
    /// A number for each input coordinate.
    pub center: Vec<Rational>,
    /// Not below zero.
    pub radius: Rational,
}

/// A norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// The sum of the magnitudes.
    One = 1,
    /// The root of the sum of the squares.
    Two = 2,
}

impl Within {
    /// Whether nothing restricts the box.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.ball.is_none() && self.rows.is_empty()
    }
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
    pub fn slack(&self, x: &[Rational], y: &[Range]) -> Option<Range> {
        let Range { mut lower, mut upper } = Range::exact(self.bound.clone());
        for (variable, c) in &self.terms {
            let (low, high) = match variable {
                Variable::X(i) => x.get(*i).map(|x| (x, x))?,
                Variable::Y(i) => y.get(*i).map(|y| (&y.lower, &y.upper))?,
            };
            let (low, high) = if c.is_negative() { (high, low) } else { (low, high) };
            (lower, upper) = (lower - c * high, upper - c * low);
        }
        Some(Range { lower, upper })
    }

    /// Whether a point with this slack satisfies the row; `None` if some numbers of the range would and others not.
    #[must_use]
    pub fn holds(&self, slack: &Range) -> Option<bool> {
        let holds = |end: &Rational| if self.strict { end.is_positive() } else { !end.is_negative() };
        // A row that holds for the least slack holds for every other one.
        (holds(&slack.lower) == holds(&slack.upper)).then(|| holds(&slack.lower))
    }
}
