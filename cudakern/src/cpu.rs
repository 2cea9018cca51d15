//! The CPU: plain loops.

use crate::backend::{Backend, Failure};
use crate::functions::scalar;
use crate::layout::{Layout, Map, NONE, Operation, Step};
use crate::number::Number;
use std::ops::Range;

/// Runs layouts on this processor, on one thread, without fused operations: every sum in the order of its coordinates, the bias last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn run<T: Number>(&self, layout: &Layout<T>, points: &[T]) -> Result<Vec<T>, Failure> {
        let width = layout.input.len();
        if width == 0 || !points.len().is_multiple_of(width) {
            return Err(Failure::Width);
        }
        let mut outputs = Vec::new();
        let mut arena = vec![T::zero(); layout.size];
        for point in points.chunks(width) {
            for step in &layout.steps {
                let (before, rest) = arena.split_at_mut(step.place.start);
                run(step, point, before, &mut rest[..step.place.len()])?;
            }
            outputs.extend(layout.outputs.iter().flat_map(|place| arena[place.clone()].iter().copied()));
        }
        Ok(outputs)
    }
}

/// One step: `values` are those of the earlier ones, `own` takes the result.
fn run<T: Number>(step: &Step<T>, point: &[T], values: &[T], own: &mut [T]) -> Result<(), Failure> {
    let at = |place: &Range<usize>| &values[place.clone()];
    match &step.operation {
        Operation::Input => own.copy_from_slice(point),
        Operation::Affine { terms, bias } => {
            own.fill(T::zero());
            for term in terms {
                term.map.add_image(at(&term.source), own, |coefficient| coefficient);
            }
            if let Some(bias) = bias {
                own.iter_mut().zip(bias).for_each(|(sum, bias)| *sum = *sum + *bias);
            }
        }
        Operation::Univariate { name, parameters, source } => {
            let function = scalar::<T>(name).ok_or(Failure::Function(name))?;
            own.iter_mut().zip(at(source)).for_each(|(own, x)| *own = function(*x, parameters));
        }
        Operation::Product { left, right } => {
            let factors = at(left).iter().zip(at(right));
            own.iter_mut().zip(factors).for_each(|(own, (p, q))| *own = *p * *q);
        }
        Operation::Max { source, ends, members } => maxima(at(source), ends, members, own),
    }
    Ok(())
}

/// The greatest member of each group; NaN where one is NaN.
pub(crate) fn maxima<T: Number>(values: &[T], ends: &[u32], members: &[u32], own: &mut [T]) {
    let mut start = 0;
    for (own, end) in own.iter_mut().zip(ends) {
        let group = members[start..*end as usize].iter().map(|member| values[*member as usize]);
        *own = group.reduce(|a, b| if b > a || b.is_nan() { b } else { a }).unwrap_or(T::nan());
        start = *end as usize;
    }
}

impl<T: Number> Map<T> {
    /// Adds the image of `values` under the map of which every coefficient `c` is `weigh(c)`.
    pub(crate) fn add_image(&self, values: &[T], sums: &mut [T], weigh: impl Fn(T) -> T) {
        match self {
            Self::Multiple(factor) => {
                let factor = weigh(*factor);
                sums.iter_mut().zip(values).for_each(|(sum, x)| *sum = *sum + factor * *x);
            }
            Self::Diagonal(factors) => {
                let terms = factors.iter().zip(values);
                sums.iter_mut().zip(terms).for_each(|(sum, (factor, x))| *sum = *sum + weigh(*factor) * *x);
            }
            Self::Select { sources, factor } => {
                let factor = weigh(*factor);
                for (sum, source) in sums.iter_mut().zip(sources).filter(|(_, source)| **source != NONE) {
                    *sum = *sum + factor * values[*source as usize];
                }
            }
            Self::Dense { columns, weights } => {
                let rows = weights.len() / columns;
                for (sums, values) in sums.chunks_mut(rows).zip(values.chunks(*columns)) {
                    for (sum, row) in sums.iter_mut().zip(weights.chunks(*columns)) {
                        *sum = row.iter().zip(values).fold(*sum, |sum, (weight, x)| sum + weigh(*weight) * *x);
                    }
                }
            }
            Self::Convolution { in_channels, out_channels, inputs, outputs, kernel, taps, weights } => {
                let images = sums.chunks_mut(out_channels * outputs).zip(values.chunks(in_channels * inputs));
                for (sums, values) in images {
                    for (sums, weights) in sums.chunks_mut(*outputs).zip(weights.chunks(in_channels * kernel)) {
                        for (sum, taps) in sums.iter_mut().zip(taps.chunks(*kernel)) {
                            for (weights, values) in weights.chunks(*kernel).zip(values.chunks(*inputs)) {
                                let inside = weights.iter().zip(taps).filter(|(_, tap)| **tap != NONE);
                                for (weight, tap) in inside {
                                    *sum = *sum + weigh(*weight) * values[*tap as usize];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
