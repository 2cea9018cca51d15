//! What a backward pass does with the entries of one row, in loops that the wide units take.

use super::product::wide;
use super::round::LIMIT;

const LANES: usize = 8;

/// `Σ a_j·b_j`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let [sum] = fold(
        [a, b],
        #[inline(always)]
        |[a, b]| [a * b],
    );
    sum
}

/// `Σ |a_j|·b_j`.
pub(crate) fn dot_absolute(a: &[f64], b: &[f64]) -> f64 {
    let [sum] = fold(
        [a, b],
        #[inline(always)]
        |[a, b]| [a.abs() * b],
    );
    sum
}

/// 1 if `a` is out of the range of CHARGE (NaN is), else 0.
#[inline(always)]
fn outside(a: f64) -> f64 {
    if a.abs() <= LIMIT { 0.0 } else { 1.0 }
}

/// `Σ a_j·e_j` with the end that the sign of `a_j` asks for: `below` where it is not negative, else `above`. If `CHARGED`, also the sum of the
/// magnitudes of its terms and the number of entries out of range.
pub(crate) fn signed<const CHARGED: bool>(row: &[f64], below: &[f64], above: &[f64]) -> [f64; 3] {
    let columns = [row, below, above];
    if !CHARGED {
        let [value] = fold(
            columns,
            #[inline(always)]
            |[a, below, above]| [a * if a >= 0.0 { below } else { above }],
        );
        return [value, 0.0, 0.0];
    }
    fold(
        columns,
        #[inline(always)]
        |[a, below, above]| {
            let term = a * if a >= 0.0 { below } else { above };
            [term, term.abs(), outside(a)]
        },
    )
}

/// The lines of a univariate node, and the magnitudes of its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) low: &'a [f64],
    pub(crate) high: &'a [f64],
    pub(crate) below: &'a [f64],
    pub(crate) above: &'a [f64],
    pub(crate) magnitude: &'a [f64],
}

/// Adds `a_j` times the slope of the line that its sign asks for to `sums[j]`. Gives the sum of the intercepts' terms; if `CHARGED`, also that of
/// their magnitudes, the number of entries out of range, and the sum of the magnitudes of the added entries, each times that of its coordinate.
pub(crate) fn relax<const CHARGED: bool>(row: &[f64], lines: Lines<'_>, sums: &mut [f64]) -> [f64; 4] {
    let Lines { low, high, below, above, magnitude } = lines;
    let columns = [row, low, high, below, above, magnitude];
    if !CHARGED {
        let [value] = fold_into(
            columns,
            sums,
            #[inline(always)]
            |[a, low, high, below, above, _], sum| {
                let (slope, intercept) = if a >= 0.0 { (low, below) } else { (high, above) };
                *sum += a * slope;
                [a * intercept]
            },
        );
        return [value, 0.0, 0.0, 0.0];
    }
    fold_into(
        columns,
        sums,
        #[inline(always)]
        |[a, low, high, below, above, size], sum| {
            let (slope, intercept) = if a >= 0.0 { (low, below) } else { (high, above) };
            let (entry, term) = (a * slope, a * intercept);
            *sum += entry;
            [term, term.abs(), outside(a), entry.abs() * size]
        },
    )
}

/// The sums of `terms` over the rows of a table of `K` columns, with the wide units; NaN if the columns differ in length.
#[inline(always)]
fn fold<const K: usize, const S: usize>(columns: [&[f64]; K], terms: impl Fn([f64; K]) -> [f64; S]) -> [f64; S] {
    fold_into(columns, &mut [], |entries, _| terms(entries))
}

/// As [`fold`], with one more column that is changed; it is not looked at if it is empty.
#[inline(always)]
#[allow(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "constant bounds, so that the loops are unrolled; lengths are equal"
)]
fn fold_into<const K: usize, const S: usize>(
    columns: [&[f64]; K],
    changed: &mut [f64],
    terms: impl Fn([f64; K], &mut f64) -> [f64; S],
) -> [f64; S] {
    let length = columns.first().map_or(0, |column| column.len());
    if columns.iter().any(|column| column.len() != length) || !(changed.is_empty() || changed.len() == length) {
        return [f64::NAN; S];
    }
    wide(
        #[inline(always)]
        || {
            let mut sums = [[0.0; LANES]; S];
            let count = length / LANES;
            let mut blocks: [&[[f64; LANES]]; K] = [&[]; K];
            for k in 0..K {
                blocks[k] = &columns[k].as_chunks().0[..count];
            }
            let (changed, changed_rest) = changed.as_chunks_mut::<LANES>();
            let mut ignored = [0.0; LANES];
            for i in 0..count {
                let own = changed.get_mut(i).unwrap_or(&mut ignored);
                for lane in 0..LANES {
                    let mut entries = [0.0; K];
                    for k in 0..K {
                        entries[k] = blocks[k][i][lane];
                    }
                    let terms = terms(entries, &mut own[lane]);
                    for s in 0..S {
                        sums[s][lane] += terms[s];
                    }
                }
            }
            let rest = count.saturating_mul(LANES);
            for j in rest..length {
                let mut entries = [0.0; K];
                for k in 0..K {
                    entries[k] = columns[k][j];
                }
                let own = changed_rest.get_mut(j.saturating_sub(rest)).unwrap_or(&mut ignored[0]);
                let terms = terms(entries, own);
                for s in 0..S {
                    sums[s][0] += terms[s];
                }
            }
            sums.map(|lanes| lanes.iter().sum())
        },
    )
}
