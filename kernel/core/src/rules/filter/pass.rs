//! BACK in binary64, many rows at a time, with CHARGE.
//!
//! Row `r` stands for the claim `entries·z + constants ≥ result[r]` on its scope. Invariant: the claim's left side is at least
//! `Σ_v A_v·v(x) + d − charges`, where `A_v` are the stored rows. When the row of a node is removed, its entries are sums that were
//! rounded: the charge is what the rounding can be worth on the node's bounds.

use super::boxes::FloatBox;
use super::lines::{FloatLines, bends};
use super::refute::NodeSlopes;
use super::scope::FilterScope;
use super::{Edge, Ends, Filter, FloatNode, FloatPrimitive, TERMS};
use crate::filter::round::{LIMIT, power_of_two};
use crate::filter::rows::{Lines, dot_absolute, relax, signed};
use crate::func::Function;
use crate::program::NodeId;

/// Half the distance from 1 to the next number: one rounding to nearest costs at most this, relatively.
const EPSILON: f64 = power_of_two(-53);
/// What the roundings of a charge itself can be worth, relatively.
const SLACK: f64 = 1.0 + power_of_two(-20);
/// More than all underflows of one step.
const UNDERFLOW: f64 = power_of_two(-900);

/// What a pass starts from for one row: a form over node values and constants to be added.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) scope: &'a FilterScope,
    pub(super) slopes: &'a [NodeSlopes<'a>],
    /// Node, coordinate, coefficient; a coordinate may come more than once.
    pub(super) entries: Vec<(NodeId, usize, f64)>,
    /// Constants, rounded down.
    pub(super) constants: Vec<f64>,
}

/// The rows of one node.
pub(super) struct Rows {
    pub(super) entries: Vec<f64>,
    /// For each row the sum of the magnitudes of all terms that went into its entries, each times that of its coordinate's value.
    pub(super) reach: Vec<f64>,
}

pub(super) struct Pass<'a, const CHARGED: bool> {
    pub(super) filter: &'a Filter,
    pub(super) starts: &'a [Start<'a>],
    nodes: Vec<Option<Rows>>,
    /// Memory of removed rows: fresh memory costs more than what is done with it.
    spare: Vec<Vec<f64>>,
    pub(super) constants: Vec<Constant>,
}

/// The constant of a row.
#[derive(Clone, Default)]
pub(super) struct Constant {
    value: f64,
    /// The sum of the magnitudes of its terms.
    magnitude: f64,
    /// The sum of the magnitudes of the entries of all its rows: it is in the range of CHARGE only if every entry is.
    entries: f64,
    /// The most terms of an entry of any node that the start gave.
    terms: usize,
}

/// Rows that go through a program together: enough of them to read weights seldom, not more entries of one node than a cache holds.
const ROWS: usize = 64;
const ENTRIES: usize = 1 << 15;

/// For each start a number that its form never falls below on its scope; NaN or −∞ where the filter cannot tell. Without charges: about such a number.
pub(super) fn bounds<const CHARGED: bool>(filter: &Filter, starts: &[Start<'_>]) -> Option<Vec<f64>> {
    let mut found = Vec::with_capacity(starts.len());
    let mut spare = Vec::new();
    let widest = filter.nodes.iter().map(|node| node.width).max().unwrap_or(1).max(1);
    for starts in starts.chunks(ENTRIES.checked_div(widest).unwrap_or(1).clamp(4, ROWS)) {
        let nodes = filter.nodes.iter().map(|_| None).collect();
        let constants = vec![Constant::default(); starts.len()];
        let mut pass = Pass::<CHARGED> { filter, starts, nodes, spare, constants };
        pass.start()?;
        for (id, node) in filter.nodes.iter().enumerate().rev() {
            if let Some(rows) = pass.nodes.get_mut(id).and_then(Option::take) {
                pass.remove(id, node, &rows)?;
                #[cfg(test)]
                super::tests::removed(id, &rows.entries);
                pass.spare.push(rows.entries);
            }
        }
        spare = std::mem::take(&mut pass.spare);
        found.extend(pass.finish()?);
    }
    Some(found)
}

impl<const CHARGED: bool> Pass<'_, CHARGED> {
    fn start(&mut self) -> Option<()> {
        let (filter, starts) = (self.filter, self.starts);
        // A lone entry of an affine node goes through it at once: `A·v = A·(Σ L p + b)` holds for parts of a row as well.
        let lone = starts.iter().all(|start| start.entries.len() == 1);
        for (r, start) in starts.iter().enumerate() {
            let mut terms = start.entries.len();
            for value in &start.constants {
                self.constants.get_mut(r)?.add([*value, value.abs(), 0.0]);
            }
            for (node, coordinate, value) in &start.entries {
                match &filter.nodes.get(*node)?.primitive {
                    FloatPrimitive::Affine { terms: edges, bias } if lone => {
                        // The entry itself was rounded twice, and no charge of its node pays for that.
                        terms = edges.len().checked_add(2)?;
                        self.start_affine(r, *coordinate, *value, edges, bias)?;
                    }
                    _ => {
                        let size = *start.scope.bounds(*node)?.magnitude.get(*coordinate)?;
                        let entry = self.row(r, *node, value.abs() * size)?.get_mut(*coordinate)?;
                        *entry += value;
                    }
                }
            }
            self.constants.get_mut(r)?.terms = terms;
        }
        Some(())
    }

    fn start_affine(&mut self, r: usize, coordinate: usize, value: f64, edges: &[Edge], bias: &Ends) -> Option<()> {
        let end = if value >= 0.0 { &bias.lower } else { &bias.upper };
        let term = value * end.get(coordinate)?;
        self.constants.get_mut(r)?.add([term, term.abs(), 0.0]);
        let scope = self.starts.get(r)?.scope;
        for Edge { parent, map, number } in edges {
            let reach = value.abs() * scope.reach(*number)?.get(coordinate)?;
            map.add_row(coordinate, value, self.row(r, *parent, reach)?)?;
        }
        Some(())
    }

    /// Row `r` of `node`, to which terms of the given reach will be added.
    fn row(&mut self, r: usize, node: NodeId, reach: f64) -> Option<&mut [f64]> {
        let width = self.filter.width(node);
        let rows = self.rows(node)?;
        *rows.reach.get_mut(r)? += reach;
        let from = r.checked_mul(width)?;
        rows.entries.get_mut(from..from.checked_add(width)?)
    }

    /// The rows of `node`, which are zero at first.
    pub(super) fn rows(&mut self, node: NodeId) -> Option<&mut Rows> {
        let (count, width) = (self.starts.len(), self.filter.width(node));
        let length = count.checked_mul(width)?;
        let spare = &mut self.spare;
        let zero = || {
            let mut entries = spare.pop().unwrap_or_default();
            entries.clear();
            entries.resize(length, 0.0);
            Rows { entries, reach: vec![0.0; count] }
        };
        Some(self.nodes.get_mut(node)?.get_or_insert_with(zero))
    }

    /// Removes the rows of a node after all its consumers.
    fn remove(&mut self, id: NodeId, node: &FloatNode, rows: &Rows) -> Option<()> {
        if CHARGED {
            self.charge(node.terms, rows)?;
        }
        match &node.primitive {
            FloatPrimitive::Input => self.input(id, node.width, rows),
            FloatPrimitive::Affine { terms, bias } => self.affine(node.width, terms, bias, rows),
            FloatPrimitive::Univariate { function, argument } => self.univariate(id, function, *argument, rows),
            FloatPrimitive::Product { left, right } => self.product((*left, *right), rows),
            FloatPrimitive::Max { argument, groups } => self.max(*argument, groups, node.width, rows),
        }
    }

    /// CHARGE, for entries of at most `terms` terms from consumers: `N` terms, each rounded at most twice, lie within `(N + 2)·ε` of their sum's magnitudes.
    fn charge(&mut self, terms: usize, rows: &Rows) -> Option<()> {
        for (constant, reach) in self.constants.iter_mut().zip(&rows.reach) {
            let charge = (counted(terms.checked_add(constant.terms)?) + 2.0) * EPSILON * SLACK * reach + UNDERFLOW;
            constant.value -= charge;
            constant.magnitude += charge;
        }
        Some(())
    }

    fn input(&mut self, id: NodeId, width: usize, rows: &Rows) -> Option<()> {
        let entries = rows.entries.chunks(width.max(1));
        for ((constant, start), row) in self.constants.iter_mut().zip(self.starts).zip(entries) {
            let bounds = start.scope.bounds(id)?;
            constant.add(signed::<CHARGED>(row, &bounds.lower, &bounds.upper));
        }
        Some(())
    }

    /// `A·v = A·(Σ L p + b)`.
    fn affine(&mut self, width: usize, terms: &[Edge], bias: &Ends, rows: &Rows) -> Option<()> {
        for (constant, row) in self.constants.iter_mut().zip(rows.entries.chunks(width.max(1))) {
            constant.add(signed::<CHARGED>(row, &bias.lower, &bias.upper));
        }
        let starts = self.starts;
        for Edge { parent, map, number } in terms {
            let sums = self.rows(*parent)?;
            map.add_adjoint(starts.len(), &rows.entries, &mut sums.entries)?;
            if CHARGED {
                let entries = rows.entries.chunks(width.max(1));
                for ((reach, start), row) in sums.reach.iter_mut().zip(starts).zip(entries) {
                    *reach += dot_absolute(row, start.scope.reach(*number)?);
                }
            }
        }
        Some(())
    }

    /// A lower line where the stored entry is not negative, an upper line where it is.
    fn univariate(&mut self, id: NodeId, function: &Function, argument: NodeId, rows: &Rows) -> Option<()> {
        let width = self.filter.width(id);
        let starts = self.starts;
        let mut constants = std::mem::take(&mut self.constants);
        let sums = self.rows(argument)?;
        let mut own = FloatLines::default();
        let per_row = rows.entries.chunks(width.max(1)).zip(sums.entries.chunks_mut(width.max(1)));
        let per_row = per_row.zip(&mut sums.reach).zip(starts).zip(&mut constants);
        for ((((row, sums), reach), start), constant) in per_row {
            let (bounds, default) = (start.scope.bounds(argument)?, start.scope.lines(id)?);
            let given = start.slopes.iter().find(|slopes| slopes.node == id);
            let (mut low, mut lines) = (&default.low, default);
            if let Some(given) = given {
                if *function == Function::Relu && given.upper.is_none() {
                    own.low.clone_from(&default.low);
                    given.each(|column, [slope, _]| set_slope(&mut own.low, function, bounds, column, slope))?;
                    low = &own.low;
                } else {
                    own.clone_from(default);
                    given.each(|column, slopes| own.update(function, column, bounds, slopes))?;
                    (low, lines) = (&own.low, &own);
                }
            }
            let FloatLines { high, below, above, .. } = lines;
            let lines = Lines { low, high, below, above, magnitude: &bounds.magnitude };
            let [value, magnitude, entries, reached] = relax::<CHARGED>(row, lines, sums);
            constant.add([value, magnitude, entries]);
            *reach += reached;
        }
        self.constants = constants;
        Some(())
    }

    /// The constants as one inner product over the whole pass, charges included, and its own rounding charged.
    fn finish(self) -> Option<Vec<f64>> {
        if !CHARGED {
            return Some(self.constants.into_iter().map(|constant| constant.value).collect());
        }
        let bound = |(constant, start): (Constant, &Start<'_>)| {
            let own = start.constants.len().checked_add(start.entries.len())?;
            let bound = constant.value
                - ((counted(self.filter.constants.checked_add(own)?) + 4.0) * EPSILON * SLACK * constant.magnitude
                    + UNDERFLOW);
            Some(if constant.entries <= LIMIT && start.scope.in_range() { bound } else { f64::NAN })
        };
        self.constants.into_iter().zip(self.starts).map(bound).collect()
    }
}

/// A number of terms; NaN if the charges are not derived for it.
fn counted(terms: usize) -> f64 {
    if terms <= TERMS { terms as f64 } else { f64::NAN }
}

impl Constant {
    pub(super) fn add(&mut self, [value, magnitude, entries]: [f64; 3]) {
        self.value += value;
        self.magnitude += magnitude;
        self.entries += entries;
    }
}

/// Sets the slope of a lower line where the function bends. It was checked, and a lower line of ReLU has the intercept 0 for any of them.
fn set_slope(low: &mut [f64], function: &Function, bounds: &FloatBox, column: usize, slope: Option<f64>) -> Option<()> {
    if bends(function, *bounds.lower.get(column)?, *bounds.upper.get(column)?) {
        *low.get_mut(column)? = slope?;
    }
    Some(())
}
