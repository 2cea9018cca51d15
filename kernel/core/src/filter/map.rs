//! Linear maps in binary64: every coefficient is the exact one rounded once to nearest.

use super::product::{Packed, add_product};
use super::round::{nearest, nearest_entries};
use super::rows::{dot, dot_absolute};
use crate::affine::{Kind as Exact, LinearMap, Span};
use crate::num::Dyadic;
use num_bigint::BigInt;

/// The most places of a convolution that are held at a time before they are summed.
const TILE: usize = 1 << 15;

/// A linear map `output ← input`.
#[derive(Debug)]
pub(crate) struct FloatMap {
    input: usize,
    output: usize,
    /// The most terms of a coordinate of the image.
    pub(crate) image_terms: usize,
    /// The most terms of a coordinate of the adjoint's image.
    pub(crate) adjoint_terms: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Multiple { factor: f64 },
    Diagonal { factors: Vec<f64> },
    Select { sources: Vec<Option<usize>>, factor: f64 },
    Dense { columns: usize, weights: Vec<f64>, packed: Packed },
    Convolution { lengths: Lengths, spans: Vec<Span>, weights: Vec<f64>, transposed: Vec<f64> },
}

/// Lengths of a convolution, spatial axes taken together.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    in_channels: usize,
    out_channels: usize,
    kernel: usize,
    input: usize,
    output: usize,
}

impl FloatMap {
    /// The map divided by `denominator`; `None` if a coefficient is out of the range of CHARGE.
    pub(crate) fn new(map: &LinearMap, denominator: &BigInt) -> Option<Self> {
        let (input, output) = (map.input_width(), map.output_width());
        let factor = |factor: &BigInt| nearest(&Dyadic::new(factor.clone(), 0), denominator);
        let (kind, image_terms, adjoint_terms) = match map.kind() {
            Exact::Multiple { factor: own } => (Kind::Multiple { factor: factor(own)? }, 1, 1),
            Exact::Diagonal { factors } => {
                let factors = factors.iter().map(|own| nearest(own, denominator)).collect::<Option<_>>()?;
                (Kind::Diagonal { factors }, 1, 1)
            }
            Exact::Select { sources, factor: own } => {
                let mut uses = vec![0_usize; input];
                for source in sources.iter().flatten() {
                    let count = uses.get_mut(*source)?;
                    *count = count.checked_add(1)?;
                }
                let most = uses.into_iter().max().unwrap_or(0);
                (Kind::Select { sources: sources.clone(), factor: factor(own)? }, 1, most)
            }
            Exact::Dense { matrix, .. } => {
                let (rows, columns) = (matrix.rows(), matrix.columns());
                let weights = nearest_entries(matrix, denominator)?;
                let packed = Packed::new(rows, columns, &weights);
                (Kind::Dense { columns, weights, packed }, columns, rows)
            }
            Exact::Convolution { geometry, taps, matrix } => {
                let (rows, columns) = (matrix.rows(), matrix.columns());
                let weights = nearest_entries(matrix, denominator)?;
                let transposed = transposed(&weights, columns);
                let (kernel, inputs, outputs) = geometry.volumes()?;
                let (in_channels, out_channels) = (geometry.in_channels, geometry.out_channels);
                let lengths = Lengths { in_channels, out_channels, kernel, input: inputs, output: outputs };
                let spans = Span::of(taps, kernel);
                if !spans.iter().all(|span| span.fits(kernel, outputs, inputs)) {
                    return None;
                }
                (Kind::Convolution { lengths, spans, weights, transposed }, columns, rows.checked_mul(kernel)?)
            }
        };
        Some(Self { input, output, image_terms, adjoint_terms, kind })
    }

    /// Adds `L·input` (or `|L|·input`, if `absolute`) to `image`; `None` if the widths do not fit.
    pub(crate) fn add_image(&self, input: &[f64], absolute: bool, image: &mut [f64]) -> Option<()> {
        if (input.len(), image.len()) != (self.input, self.output) {
            return None;
        }
        let sized = |factor: f64| if absolute { factor.abs() } else { factor };
        match &self.kind {
            Kind::Multiple { factor } => add_multiple(sized(*factor), input, image),
            Kind::Diagonal { factors } => {
                let products = input.iter().zip(factors).map(|(value, factor)| sized(*factor) * value);
                image.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
            }
            Kind::Select { sources, factor } => {
                for (sum, source) in image.iter_mut().zip(sources) {
                    if let Some(value) = source.and_then(|source| input.get(source)) {
                        *sum += sized(*factor) * value;
                    }
                }
            }
            Kind::Dense { columns, weights, .. } => {
                let rows = weights.len().checked_div(*columns).unwrap_or(0).max(1);
                for (input, image) in input.chunks(*columns.max(&1)).zip(image.chunks_mut(rows)) {
                    for (sum, row) in image.iter_mut().zip(weights.chunks(*columns.max(&1))) {
                        *sum += if absolute { dot_absolute(row, input) } else { dot(row, input) };
                    }
                }
            }
            Kind::Convolution { lengths, spans, weights, .. } => {
                let own: Vec<f64> = if absolute { weights.iter().map(|w| w.abs()).collect() } else { Vec::new() };
                let weights = if absolute { &own } else { weights };
                lengths.add_image(spans, weights, input, image);
            }
        }
        Some(())
    }

    /// Adds `rowᵀ·L` to `sums` for each of `count` rows; `None` if the widths do not fit.
    pub(crate) fn add_adjoint(&self, count: usize, rows: &[f64], sums: &mut [f64]) -> Option<()> {
        if (Some(rows.len()), Some(sums.len())) != (count.checked_mul(self.output), count.checked_mul(self.input)) {
            return None;
        }
        match &self.kind {
            Kind::Multiple { factor } => add_multiple(*factor, rows, sums),
            Kind::Diagonal { factors } => {
                let width = self.input.max(1);
                for (row, sums) in rows.chunks(width).zip(sums.chunks_mut(width)) {
                    let products = row.iter().zip(factors).map(|(entry, factor)| factor * entry);
                    sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
                }
            }
            Kind::Select { sources, factor } => {
                let rows = rows.chunks(self.output.max(1)).zip(sums.chunks_mut(self.input.max(1)));
                for (row, sums) in rows {
                    for (entry, source) in row.iter().zip(sources) {
                        if let Some(sum) = source.and_then(|source| sums.get_mut(source)) {
                            *sum += factor * entry;
                        }
                    }
                }
            }
            Kind::Dense { packed, .. } => add_product(rows, packed, sums),
            Kind::Convolution { lengths, spans, transposed, .. } => {
                lengths.add_adjoint(spans, transposed, rows, sums);
            }
        }
        Some(())
    }
}

impl FloatMap {
    /// Adds `value` times row `output` of `L` to `sums`: what [`FloatMap::add_adjoint`] does with one entry. `None` if there is no such row.
    pub(crate) fn add_row(&self, output: usize, value: f64, sums: &mut [f64]) -> Option<()> {
        if output >= self.output || sums.len() != self.input {
            return None;
        }
        match &self.kind {
            Kind::Multiple { factor } => *sums.get_mut(output)? += factor * value,
            Kind::Diagonal { factors } => *sums.get_mut(output)? += factors.get(output)? * value,
            Kind::Select { sources, factor } => {
                if let Some(source) = sources.get(output)? {
                    *sums.get_mut(*source)? += factor * value;
                }
            }
            Kind::Dense { columns, weights, .. } => {
                let rows = weights.len().checked_div(*columns).unwrap_or(0).max(1);
                let sums = sums.chunks_mut(*columns.max(&1)).nth(output.checked_div(rows)?);
                let row = weights.chunks(*columns.max(&1)).nth(output.checked_rem(rows)?);
                if let (Some(sums), Some(row)) = (sums, row) {
                    add_multiple(value, row, sums);
                }
            }
            Kind::Convolution { lengths, spans, weights, .. } => {
                lengths.add_row(spans, weights, output, value, sums)?;
            }
        }
        Some(())
    }
}

impl Lengths {
    fn add_row(&self, spans: &[Span], weights: &[f64], output: usize, value: f64, sums: &mut [f64]) -> Option<()> {
        let (channel, place) = (output.checked_div(self.output)?, output.checked_rem(self.output)?);
        let (image, channel) = (channel.checked_div(self.out_channels)?, channel.checked_rem(self.out_channels)?);
        let columns = self.in_channels.checked_mul(self.kernel)?;
        let weights = weights.chunks(columns.max(1)).nth(channel)?.chunks(self.kernel.max(1));
        let sums = sums.chunks_mut(self.in_channels.checked_mul(self.input)?.max(1)).nth(image)?;
        for (weights, sums) in weights.zip(sums.chunks_mut(self.input.max(1))) {
            for span in spans {
                if let Some(met) = place.checked_sub(span.output).filter(|met| *met < span.length) {
                    let input = met.checked_mul(span.step)?.checked_add(span.input)?;
                    *sums.get_mut(input)? += value * weights.get(span.kernel)?;
                }
            }
        }
        Some(())
    }

    fn add_image(&self, spans: &[Span], weights: &[f64], input: &[f64], image: &mut [f64]) {
        let columns = self.in_channels.saturating_mul(self.kernel);
        let images = input.chunks(self.in_channels.saturating_mul(self.input).max(1));
        let sums = image.chunks_mut(self.out_channels.saturating_mul(self.output).max(1));
        for (input, sums) in images.zip(sums) {
            // Each input place that a kernel place meets, by output place.
            let mut met = vec![0.0; columns.saturating_mul(self.output)];
            let channels = met.chunks_mut(self.kernel.saturating_mul(self.output).max(1));
            for (met, input) in channels.zip(input.chunks(self.input.max(1))) {
                for span in spans {
                    let row = span.kernel.saturating_mul(self.output).saturating_add(span.output);
                    let places = met.iter_mut().skip(row).take(span.length);
                    places.zip(input.iter().skip(span.input).step_by(span.step)).for_each(|(met, value)| *met = *value);
                }
            }
            add_product(weights, &Packed::new(columns, self.output, &met), sums);
        }
    }

    fn add_adjoint(&self, spans: &[Span], transposed: &[f64], rows: &[f64], sums: &mut [f64]) {
        let tile = self.kernel.saturating_mul(self.output).max(1);
        let channels = TILE.checked_div(tile).unwrap_or(1).max(1);
        let mut met = vec![0.0; channels.min(self.in_channels).saturating_mul(tile)];
        let mut packed = Packed::default();
        let rows = rows.chunks(self.out_channels.saturating_mul(self.output).max(1));
        let sums = sums.chunks_mut(self.in_channels.saturating_mul(self.input).max(1));
        for (row, sums) in rows.zip(sums) {
            packed.pack_into(self.out_channels, self.output, row);
            let weights = channels.saturating_mul(self.kernel).saturating_mul(self.out_channels).max(1);
            let sums = sums.chunks_mut(channels.saturating_mul(self.input).max(1));
            for (weights, sums) in transposed.chunks(weights).zip(sums) {
                met.fill(0.0);
                let count = sums.len().checked_div(self.input).unwrap_or(0);
                let Some(met) = met.get_mut(..count.saturating_mul(tile)) else { continue };
                add_product(weights, &packed, met);
                for (met, sums) in met.chunks(tile).zip(sums.chunks_mut(self.input.max(1))) {
                    self.scatter(spans, met, sums);
                }
            }
        }
    }

    /// Adds what each kernel place gives to the input places that it meets.
    fn scatter(&self, spans: &[Span], met: &[f64], sums: &mut [f64]) {
        for span in spans {
            let row = span.kernel.saturating_mul(self.output).saturating_add(span.output);
            let Some(met) = met.get(row..row.saturating_add(span.length)) else { continue };
            let Some(sums) = sums.get_mut(span.input..) else { continue };
            if span.step == 1 {
                sums.iter_mut().zip(met).for_each(|(sum, value)| *sum += value);
            } else {
                sums.iter_mut().step_by(span.step).zip(met).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

fn add_multiple(factor: f64, from: &[f64], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(sum, value)| *sum += factor * value);
}

fn transposed(weights: &[f64], columns: usize) -> Vec<f64> {
    let column = |column| weights.iter().skip(column).step_by(columns.max(1)).copied();
    (0..columns).flat_map(column).collect()
}
