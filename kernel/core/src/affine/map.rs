//! Linear maps: forward over intervals (IBP), adjoint over rows (BACK).

use super::convolution::{Convolution, volume};
use super::{matrix, over_one_denominator};
use crate::interval::Interval;
use crate::num::{Dyadic, Matrix, Planes};
use crate::tensor::Tensor;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::One;

/// Digits that the ends of intervals keep in IBP; more are rounded outward.
const END_DIGITS: usize = 4;

/// A linear map with exact coefficients.
#[derive(Clone, Debug)]
pub struct LinearMap {
    input_width: usize,
    output_width: usize,
    /// The coefficients are those of `kind` divided by this.
    denominator: BigInt,
    kind: Kind,
}

/// How a map is held, before its denominator.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `factor · x`.
    Multiple {
        /// The factor.
        factor: BigInt,
    },
    /// `factors[i] · x[i]`.
    Diagonal {
        /// The factors.
        factors: Vec<Dyadic>,
    },
    /// `factor · x[sources[i]]`, zero where `None`.
    Select {
        /// The coordinate of the input for each of the output.
        sources: Vec<Option<usize>>,
        /// The factor.
        factor: BigInt,
    },
    /// `batch` copies of a matrix.
    Dense {
        /// How many.
        batch: usize,
        /// The matrix.
        matrix: Matrix,
    },
    /// A convolution.
    Convolution {
        /// Its geometry.
        geometry: Convolution,
        /// For each output place and kernel place, in row-major order, the flat input place, or `None` in the padding.
        taps: Vec<Option<usize>>,
        /// The weight, `[out_channels, in_channels · kernel]`.
        matrix: Matrix,
    },
}

impl LinearMap {
    /// `x`.
    #[must_use]
    pub fn identity(width: usize) -> Self {
        let kind = Kind::Multiple { factor: BigInt::one() };
        Self { input_width: width, output_width: width, denominator: BigInt::one(), kind }
    }

    /// `−x`.
    #[must_use]
    pub fn negation(width: usize) -> Self {
        let kind = Kind::Multiple { factor: -BigInt::one() };
        Self { input_width: width, output_width: width, denominator: BigInt::one(), kind }
    }

    /// `factors[i] · x[i]`.
    #[must_use]
    pub fn diagonal(factors: &Tensor) -> Option<Self> {
        let (denominator, factors) = over_one_denominator(factors)?;
        let width = factors.len();
        Some(Self { input_width: width, output_width: width, denominator, kind: Kind::Diagonal { factors } })
    }

    /// `x[sources[i]]`, zero where `None`; `None` if a source is no coordinate of the input.
    #[must_use]
    pub fn select(sources: Vec<Option<usize>>, input_width: usize) -> Option<Self> {
        if sources.iter().flatten().any(|source| *source >= input_width) {
            return None;
        }
        let output_width = sources.len();
        let kind = Kind::Select { sources, factor: BigInt::one() };
        Some(Self { input_width, output_width, denominator: BigInt::one(), kind })
    }

    /// `batch` copies of the matrix `weight` of shape `[out, in]`, each applied to the next `in` coordinates.
    #[must_use]
    pub fn dense(weight: &Tensor, batch: usize) -> Option<Self> {
        let [rows, columns] = weight.shape() else { return None };
        let (denominator, matrix) = matrix(weight, *rows, *columns)?;
        Some(Self {
            input_width: batch.checked_mul(*columns)?,
            output_width: batch.checked_mul(*rows)?,
            denominator,
            kind: Kind::Dense { batch, matrix },
        })
    }

    /// A convolution; `weight` has the shape `[out_channels, in_channels, kernel…]`.
    #[must_use]
    pub fn convolution(weight: &Tensor, geometry: Convolution) -> Option<Self> {
        let [rows, channels, kernel @ ..] = weight.shape() else { return None };
        if (*rows, *channels, kernel) != (geometry.out_channels, geometry.in_channels, &geometry.kernel) {
            return None;
        }
        let (denominator, matrix) = matrix(weight, *rows, channels.checked_mul(volume(kernel)?)?)?;
        let channels_of =
            |channels: usize, axes: &[usize]| geometry.batch.checked_mul(channels)?.checked_mul(volume(axes)?);
        let input_width = channels_of(geometry.in_channels, &geometry.input)?;
        let output_width = channels_of(geometry.out_channels, &geometry.output)?;
        let taps = geometry.taps()?;
        let kind = Kind::Convolution { geometry, taps, matrix };
        Some(Self { input_width, output_width, denominator, kind })
    }

    /// The number of coordinates that it takes.
    #[must_use]
    pub fn input_width(&self) -> usize {
        self.input_width
    }

    /// The number of coordinates that it gives.
    #[must_use]
    pub fn output_width(&self) -> usize {
        self.output_width
    }

    /// Whether it maps `input` to `output` coordinates.
    #[must_use]
    pub fn fits(&self, input: usize, output: usize) -> bool {
        (self.input_width, self.output_width) == (input, output)
    }

    pub(super) fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// How it is held. The maps of an [`Affine`](super::Affine) have the denominator of that alone.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The map times `denominator`, a multiple of its own, so that its coefficients are dyadic.
    pub(super) fn over(self, denominator: &BigInt) -> Option<Self> {
        let factor = denominator / &self.denominator;
        let exact = Dyadic::new(factor.clone(), 0);
        let scaled = |matrix: Matrix| {
            if factor.is_one() {
                return Some(matrix);
            }
            let count = matrix.rows().checked_mul(matrix.columns())?;
            let entries = (0..count).map_while(|i| matrix.get(i)).map(|entry| &entry * &exact).collect::<Vec<_>>();
            Matrix::new(matrix.rows(), matrix.columns(), &entries)
        };
        let kind = match self.kind {
            Kind::Multiple { factor: own } => Kind::Multiple { factor: own * &factor },
            Kind::Diagonal { factors } => Kind::Diagonal { factors: factors.iter().map(|own| own * &exact).collect() },
            Kind::Select { sources, factor: own } => Kind::Select { sources, factor: own * &factor },
            Kind::Dense { batch, matrix } => Kind::Dense { batch, matrix: scaled(matrix)? },
            Kind::Convolution { geometry, taps, matrix } => {
                Kind::Convolution { geometry, taps, matrix: scaled(matrix)? }
            }
        };
        Some(Self { denominator: BigInt::one(), kind, ..self })
    }

    /// Adds the interval image of `input` to `sums`, rounded outward (IBP: each coefficient takes the end that its sign asks for).
    pub(super) fn add_interval(&self, input: &[Interval], sums: &mut [Interval]) -> Option<()> {
        if !self.fits(input.len(), sums.len()) {
            return None;
        }
        match &self.kind {
            Kind::Multiple { factor } => {
                let factor = Dyadic::new(factor.clone(), 0);
                sums.iter_mut().zip(input).for_each(|(sum, z)| *sum = sum.plus(&z.times(&factor)).outward());
                Some(())
            }
            Kind::Diagonal { factors } => {
                let scaled = input.iter().zip(factors).map(|(z, factor)| z.times(factor));
                sums.iter_mut().zip(scaled).for_each(|(sum, z)| *sum = sum.plus(&z).outward());
                Some(())
            }
            Kind::Select { sources, factor } => {
                let factor = Dyadic::new(factor.clone(), 0);
                for (sum, source) in sums.iter_mut().zip(sources) {
                    if let Some(source) = source {
                        *sum = sum.plus(&input.get(*source)?.times(&factor)).outward();
                    }
                }
                Some(())
            }
            Kind::Dense { matrix, .. } => add_matrix_interval(matrix, input, sums, |o, v| each_column(matrix, o, v)),
            Kind::Convolution { geometry, taps, matrix } => {
                add_matrix_interval(matrix, input, sums, |o, v| each_tap(geometry, taps, o, v))
            }
        }
    }

    /// Adds the exact image of `input` to `sums`; `None` if the widths do not fit.
    pub(crate) fn add_image(&self, input: &[Dyadic], sums: &mut [Dyadic]) -> Option<()> {
        if !self.fits(input.len(), sums.len()) {
            return None;
        }
        for (output, sum) in sums.iter_mut().enumerate() {
            self.each_coefficient(output, &mut |source, coefficient| {
                *sum = &*sum + &(input.get(source)? * &coefficient);
                Some(())
            })?;
        }
        Some(())
    }

    /// Calls `add` with every input coordinate that output coordinate `output` takes, and what it is multiplied by; `None` if `output` does not exist or
    /// `add` gives it.
    pub(crate) fn each_coefficient(
        &self,
        output: usize,
        add: &mut dyn FnMut(usize, Dyadic) -> Option<()>,
    ) -> Option<()> {
        let mut fits = Some(());
        match &self.kind {
            Kind::Multiple { factor } => fits = add(output, Dyadic::new(factor.clone(), 0)),
            Kind::Diagonal { factors } => fits = add(output, factors.get(output)?.clone()),
            Kind::Select { sources, factor } => {
                if let Some(source) = sources.get(output)? {
                    fits = add(*source, Dyadic::new(factor.clone(), 0));
                }
            }
            Kind::Dense { matrix, .. } => {
                let mut visit = |source, index| fits = fits.and_then(|()| add(source, matrix.get(index)?));
                each_column(matrix, output, &mut visit)?;
            }
            Kind::Convolution { geometry, taps, matrix } => {
                let mut visit = |source, index| fits = fits.and_then(|()| add(source, matrix.get(index)?));
                each_tap(geometry, taps, output, &mut visit)?;
            }
        }
        fits
    }

    /// The adjoint `rowᵀ · L`; `None` if the row does not fit or is too long to be summed safely.
    #[must_use]
    pub fn adjoint(&self, row: &Planes) -> Option<Planes> {
        if row.len() != self.output_width {
            return None;
        }
        match &self.kind {
            Kind::Multiple { factor } => multiple(row, factor),
            Kind::Diagonal { factors } => {
                let scaled = factors.iter().enumerate().map(|(j, factor)| row.get(j).map(|entry| &entry * factor));
                scaled.collect::<Option<Vec<_>>>().map(|entries| Planes::exact(&entries))
            }
            Kind::Select { sources, factor } => multiple(&row.scatter(sources, self.input_width)?, factor),
            Kind::Dense { batch, matrix } => matrix.adjoint(row, *batch),
            Kind::Convolution { geometry, taps, matrix } => {
                // For one input place and one kernel place there is at most one output place, since strides are not zero.
                let terms = matrix.rows().checked_mul(volume(&geometry.kernel)?)?;
                let mut sums = matrix.scatter(row, self.input_width, terms)?;
                for output in 0..self.output_width {
                    each_tap(geometry, taps, output, &mut |source, index| sums.add(output, index, source))?;
                }
                Some(sums.finish())
            }
        }
    }
}

/// What is called with an input coordinate and the place of its coefficient in the matrix.
type Visit<'a> = dyn FnMut(usize, usize) + 'a;

/// Adds the interval image under the matrix whose entries `entries` lists by output coordinate, each place of a row at most once.
/// Positive coefficients take the end of their own side, negative ones the other; ends keep [`END_DIGITS`] digits of the largest.
fn add_matrix_interval(
    matrix: &Matrix,
    input: &[Interval],
    sums: &mut [Interval],
    entries: impl Fn(usize, &mut Visit<'_>) -> Option<()>,
) -> Option<()> {
    let ends = |end: fn(&Interval) -> &Dyadic| input.iter().map(end).cloned().collect::<Vec<_>>();
    let lower = Planes::floor(&ends(|z| &z.lower), END_DIGITS);
    let upper = Planes::ceil(&ends(|z| &z.upper), END_DIGITS);
    let start = |row| matrix.scatter(row, sums.len(), matrix.columns());
    let (mut positive_lower, mut positive_upper) = (start(&lower)?, start(&upper)?);
    let (mut negative_lower, mut negative_upper) = (start(&lower)?, start(&upper)?);
    for output in 0..sums.len() {
        entries(output, &mut |source, index| {
            if matrix.is_negative(index) {
                negative_lower.add(source, index, output);
                negative_upper.add(source, index, output);
            } else {
                positive_lower.add(source, index, output);
                positive_upper.add(source, index, output);
            }
        })?;
    }
    let below = sum_below(positive_lower.finish(), negative_upper.finish());
    let above = sum_below(positive_upper.finish().negated(), negative_lower.finish().negated()).negated();
    for (output, sum) in sums.iter_mut().enumerate() {
        *sum = sum.plus(&Interval { lower: below.get(output)?, upper: above.get(output)? }).outward();
    }
    Some(())
}

/// The sum, rounded down: of the smaller, digits far below those that ends keep are dropped before they cost memory.
fn sum_below(mut a: Planes, mut b: Planes) -> Planes {
    if a.is_zero() || b.is_zero() {
        return if a.is_zero() { b } else { a };
    }
    let kept = i64::try_from(END_DIGITS).unwrap_or(i64::MAX).saturating_add(1);
    let low = a.top().max(b.top()).saturating_sub(kept);
    a.raise(low);
    b.raise(low);
    a.plus(&b)
}

/// The entries of row `output` of copies of a matrix.
fn each_column(matrix: &Matrix, output: usize, visit: &mut Visit<'_>) -> Option<()> {
    let (copy, row) = output.div_rem(&matrix.rows().max(1));
    let (start, first) = (copy.checked_mul(matrix.columns())?, row.checked_mul(matrix.columns())?);
    for column in 0..matrix.columns() {
        visit(start.checked_add(column)?, first.checked_add(column)?);
    }
    Some(())
}

/// The taps of output coordinate `output` of a convolution.
fn each_tap(geometry: &Convolution, taps: &[Option<usize>], output: usize, visit: &mut Visit<'_>) -> Option<()> {
    let (places, kernel, inputs) = (volume(&geometry.output)?, volume(&geometry.kernel)?, volume(&geometry.input)?);
    let (channel, place) = output.div_rem(&places.max(1));
    let (copy, channel) = channel.div_rem(&geometry.out_channels.max(1));
    let taps = taps.chunks(kernel.max(1)).nth(place)?;
    for i in 0..geometry.in_channels {
        let start = copy.checked_mul(geometry.in_channels)?.checked_add(i)?.checked_mul(inputs)?;
        let first = channel.checked_mul(geometry.in_channels)?.checked_add(i)?.checked_mul(kernel)?;
        for (k, tap) in taps.iter().enumerate() {
            if let Some(tap) = tap {
                visit(start.checked_add(*tap)?, first.checked_add(k)?);
            }
        }
    }
    Some(())
}

/// `factor · row`.
fn multiple(row: &Planes, factor: &BigInt) -> Option<Planes> {
    if factor.is_one() {
        return Some(row.clone());
    }
    if *factor == -BigInt::one() {
        return Some(row.negated());
    }
    let scaled = (0..row.len()).map(|j| row.get(j).map(|entry| &entry * &Dyadic::new(factor.clone(), 0)));
    scaled.collect::<Option<Vec<_>>>().map(|entries| Planes::exact(&entries))
}
