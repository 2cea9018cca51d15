//! What a backward pass does with the entries of one row. Each sum is a loop of its own: so the compiler takes the wide units for all of them.

use super::product::wide;

const LANES: usize = 8;

/// `Σ a_j·b_j`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    wide(
        #[inline(always)]
        || {
            sum(
                [a, b],
                #[inline(always)]
                |[a, b]| a * b,
            )
        },
    )
}

/// `Σ |a_j|·b_j`.
pub(crate) fn dot_absolute(a: &[f64], b: &[f64]) -> f64 {
    wide(
        #[inline(always)]
        || {
            sum(
                [a, b],
                #[inline(always)]
                |[a, b]| a.abs() * b,
            )
        },
    )
}

/// `Σ a_j·e_j` with the end that the sign of `a_j` asks for: `below` where it is not negative, else `above`. If `CHARGED`, also the sum of the
/// magnitudes of its terms, and of the entries.
pub(crate) fn signed<const CHARGED: bool>(row: &[f64], below: &[f64], above: &[f64]) -> [f64; 3] {
    wide(
        #[inline(always)]
        || ends::<CHARGED>(row, below, above),
    )
}

/// [`signed`], to be compiled into what calls it.
#[inline(always)]
fn ends<const CHARGED: bool>(row: &[f64], below: &[f64], above: &[f64]) -> [f64; 3] {
    let value = sum([row, below, above], chosen);
    if !CHARGED {
        return [value, 0.0, 0.0];
    }
    let magnitude = sum(
        [row, below, above],
        #[inline(always)]
        |entries| chosen(entries).abs(),
    );
    let entries = sum(
        [row],
        #[inline(always)]
        |[a]| a.abs(),
    );
    [value, magnitude, entries]
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

/// Adds `a_j` times the slope of the line that its sign asks for to `sums[j]`. Gives what [`signed`] gives of the intercepts and, if `CHARGED`, the sum
/// of the magnitudes of the added entries, each times that of its coordinate. NaN if the columns differ in length.
pub(crate) fn relax<const CHARGED: bool>(row: &[f64], lines: Lines<'_>, sums: &mut [f64]) -> [f64; 4] {
    let Lines { low, high, below, above, magnitude } = lines;
    wide(
        #[inline(always)]
        || {
            let reach = added::<CHARGED>(row, [low, high], magnitude, sums);
            let [value, terms, entries] = ends::<CHARGED>(row, below, above);
            [value, terms, entries, reach]
        },
    )
}

/// Adds `a_j` times the slope that its sign asks for, the first where it is not negative, to `sums[j]`. Gives the sum of the magnitudes of what was added, each times that of its
/// coordinate, if `CHARGED`. NaN if the columns differ in length.
pub(crate) fn spread<const CHARGED: bool>(
    row: &[f64],
    slopes: [&[f64]; 2],
    magnitude: &[f64],
    sums: &mut [f64],
) -> f64 {
    wide(
        #[inline(always)]
        || added::<CHARGED>(row, slopes, magnitude, sums),
    )
}

/// [`spread`], to be compiled into what calls it.
#[inline(always)]
fn added<const CHARGED: bool>(row: &[f64], [low, high]: [&[f64]; 2], magnitude: &[f64], sums: &mut [f64]) -> f64 {
    if [low.len(), high.len(), sums.len()] != [row.len(); 3] {
        return f64::NAN;
    }
    let columns = sums.iter_mut().zip(row).zip(low).zip(high);
    columns.for_each(|(((sum, a), low), high)| *sum += chosen([*a, *low, *high]));
    if !CHARGED {
        return 0.0;
    }
    sum(
        [row, low, high, magnitude],
        #[inline(always)]
        |[a, low, high, size]| chosen([a, low, high]).abs() * size,
    )
}

/// `a·b` where `a` is not negative, else `a·c`; NaN if `a` is.
#[inline(always)]
fn chosen([a, b, c]: [f64; 3]) -> f64 {
    a * if a >= 0.0 { b } else { c }
}

/// The sum of `term` over the rows of a table of `K` columns, in lanes; NaN if the columns differ in length.
#[inline(always)]
#[allow(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "loops over arrays of constant length, which are unrolled; slices of one length"
)]
fn sum<const K: usize>(columns: [&[f64]; K], term: impl Fn([f64; K]) -> f64) -> f64 {
    let length = columns.first().map_or(0, |column| column.len());
    if columns.iter().any(|column| column.len() != length) {
        return f64::NAN;
    }
    let count = length / LANES;
    let mut blocks: [&[[f64; LANES]]; K] = [&[]; K];
    for k in 0..K {
        blocks[k] = &columns[k].as_chunks().0[..count];
    }
    let mut sums = [0.0; LANES];
    for i in 0..count {
        for lane in 0..LANES {
            let mut entries = [0.0; K];
            for k in 0..K {
                entries[k] = blocks[k][i][lane];
            }
            sums[lane] += term(entries);
        }
    }
    for j in count.saturating_mul(LANES)..length {
        let mut entries = [0.0; K];
        for k in 0..K {
            entries[k] = columns[k][j];
        }
        sums[0] += term(entries);
    }
    sums.iter().sum()
}
