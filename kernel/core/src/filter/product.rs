//! The product of the filter tier: classical, in safe Rust, for the widest units that the processor has.
//!
//! The loops are plain; what makes them fast is that a tile of sums stays in registers and that [`wide`] has the compiler vectorise
//! them for AVX2 and FMA. Multiplication and addition are fused there and only there: a fused operation without hardware is slow.

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Level, Simd};

/// The columns of a panel: two vectors of AVX2.
const PANEL: usize = 8;
/// The rows that are computed at once.
const TILE: usize = 4;
/// Entries of panels that rows pass over before the next panels: 16 KB, so that they stay in the cache next to the processor.
const BLOCK: usize = 2048;

/// A matrix laid out for [`add_product`]: panels of `PANEL` columns, row by row, the last one padded with zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    rows: usize,
    columns: usize,
    panels: Vec<[f64; PANEL]>,
}

/// Sums of a tile.
type Sums = [[f64; PANEL]; TILE];

impl Packed {
    /// The matrix with the entries `values` in row-major order. If there are fewer, the missing ones are NaN.
    pub(crate) fn new(rows: usize, columns: usize, values: &[f64]) -> Self {
        let mut packed = Self::default();
        packed.pack_into(rows, columns, values);
        packed
    }

    /// As [`Packed::new`], in the memory of `self`.
    pub(crate) fn pack_into(&mut self, rows: usize, columns: usize, values: &[f64]) {
        (self.rows, self.columns) = (rows, columns);
        self.panels.clear();
        for first in (0..columns).step_by(PANEL) {
            let width = PANEL.min(columns.saturating_sub(first));
            self.panels.extend((0..rows).map(|row| {
                let start = row.saturating_mul(columns).saturating_add(first);
                let entries = values.get(start..start.saturating_add(width));
                entries.map_or([f64::NAN; PANEL], |entries| load(entries, 0))
            }));
        }
    }
}

/// `out += left · right`: `left` has as many columns as `right` has rows; all are in row-major order.
///
/// Each entry of `out` is one sum in the order of the rows of `right`, starting from what was there, with fused operations or without; it
/// does not depend on the other rows of `left`. No factor is skipped, so that NaN and infinities spread. If the lengths do not fit
/// together, all of `out` is NaN.
pub(crate) fn add_product(left: &[f64], right: &Packed, out: &mut [f64]) {
    let (rows, columns) = (right.rows, right.columns);
    let height = left.len().checked_div(rows).unwrap_or(0);
    if height.checked_mul(rows) != Some(left.len()) || rows > 0 && height.checked_mul(columns) != Some(out.len()) {
        out.fill(f64::NAN);
    } else if rows == 0 || columns == 0 {
        // Nothing to add.
    } else if fused() {
        wide(
            #[inline(always)]
            || blocks::<true>(left, right, out),
        );
    } else {
        blocks::<false>(left, right, out);
    }
}

/// Runs `run` compiled for the widest units that the processor has; a closure must be `#[inline(always)]` for that, and must not name
/// `mul_add`. What it computes does not depend on the units.
#[inline(always)]
pub(crate) fn wide<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(units) = Level::new().as_avx2() {
        return units.vectorize(run);
    }
    run()
}

/// Whether the units of [`wide`] have fused multiplication and addition.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Level::new().as_avx2().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// Goes over the panels in blocks, and in each over the rows of `left` by tiles.
#[inline(always)]
fn blocks<const FUSED: bool>(left: &[f64], right: &Packed, out: &mut [f64]) {
    let (rows, columns) = (right.rows, right.columns);
    let count = (BLOCK / PANEL).checked_div(rows).unwrap_or(1).max(1);
    let block = right.panels.chunks(count.saturating_mul(rows));
    for (panels, first) in block.zip((0..columns).step_by(count.saturating_mul(PANEL))) {
        let tiles = left.chunks(rows.saturating_mul(TILE)).zip(out.chunks_mut(columns.saturating_mul(TILE)));
        for (left, out) in tiles {
            let left = lines(left, rows);
            for (panel, first) in panels.chunks(rows).zip((first..columns).step_by(PANEL)) {
                let [a, b, c, d] = lines(out, columns);
                let sums = [load(a, first), load(b, first), load(c, first), load(d, first)];
                let sums = tile::<FUSED>(left, panel, sums);
                for (line, sums) in out.chunks_mut(columns).zip(&sums) {
                    store(sums, line, first);
                }
            }
        }
    }
}

/// The rows of a tile; the first one once more for each that is missing.
#[inline(always)]
fn lines(values: &[f64], width: usize) -> [&[f64]; TILE] {
    let mut lines = values.chunks(width);
    let first = lines.next().unwrap_or_default();
    [first, lines.next().unwrap_or(first), lines.next().unwrap_or(first), lines.next().unwrap_or(first)]
}

/// `sums + left · panel`.
#[inline(always)]
fn tile<const FUSED: bool>(left: [&[f64]; TILE], panel: &[[f64; PANEL]], sums: Sums) -> Sums {
    let [a, b, c, d] = left;
    let [mut p, mut q, mut r, mut s] = sums;
    for ((((a, b), c), d), entries) in a.iter().zip(b).zip(c).zip(d).zip(panel) {
        p = line::<FUSED>(*a, *entries, p);
        q = line::<FUSED>(*b, *entries, q);
        r = line::<FUSED>(*c, *entries, r);
        s = line::<FUSED>(*d, *entries, s);
    }
    [p, q, r, s]
}

/// `sums + factor · entries`. Written out, so that the sums of a tile become vectors in registers whatever the compiler thinks of loops.
#[inline(always)]
fn line<const FUSED: bool>(factor: f64, entries: [f64; PANEL], sums: [f64; PANEL]) -> [f64; PANEL] {
    let ([a, b, c, d, e, f, g, h], [p, q, r, s, t, u, v, w]) = (entries, sums);
    [
        add::<FUSED>(factor, a, p),
        add::<FUSED>(factor, b, q),
        add::<FUSED>(factor, c, r),
        add::<FUSED>(factor, d, s),
        add::<FUSED>(factor, e, t),
        add::<FUSED>(factor, f, u),
        add::<FUSED>(factor, g, v),
        add::<FUSED>(factor, h, w),
    ]
}

#[inline(always)]
fn add<const FUSED: bool>(factor: f64, entry: f64, sum: f64) -> f64 {
    if FUSED { factor.mul_add(entry, sum) } else { factor * entry + sum }
}

/// The entries from `first` on, with zeros where there are fewer.
#[inline(always)]
fn load(from: &[f64], first: usize) -> [f64; PANEL] {
    let from = from.get(first..).unwrap_or_default();
    from.first_chunk().copied().unwrap_or_else(|| {
        let mut entries = [0.0; PANEL];
        entries.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        entries
    })
}

/// Writes as many as there is room for from `first` on.
#[inline(always)]
fn store(sums: &[f64; PANEL], to: &mut [f64], first: usize) {
    let to = to.get_mut(first..).unwrap_or_default();
    match to.first_chunk_mut() {
        Some(to) => *to = *sums,
        None => to.iter_mut().zip(sums).for_each(|(to, sum)| *to = *sum),
    }
}

#[cfg(test)]
mod tests;
