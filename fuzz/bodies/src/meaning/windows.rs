//! Convolutions and pooling.

use super::{Array, Number, mean, numbers};
use crate::net::Node;

/// The places before the spatial axes, and the geometry of these.
struct Geometry<'n> {
    kernel: &'n [usize],
    stride: &'n [usize],
    before: &'n [usize],
    after: &'n [usize],
    dilation: &'n [usize],
}

impl<'n> Geometry<'n> {
    fn of(node: &'n Node) -> Option<Self> {
        Some(Self {
            kernel: node.list("kernel")?,
            stride: node.list("stride")?,
            before: node.list("padding")?,
            after: node.list("padding_after")?,
            dilation: node.list("dilation")?,
        })
    }

    /// `⌊(in + before + after − (k−1)·d − 1)/stride⌋ + 1`.
    fn output(&self, input: &[usize]) -> Option<Vec<usize>> {
        let extent = |a: usize| {
            let room = input[a] + self.before[a] + self.after[a];
            Some(room.checked_sub((self.kernel[a] - 1) * self.dilation[a] + 1)? / self.stride[a] + 1)
        };
        (0..input.len()).map(extent).collect()
    }

    /// The place of the input that a tap of an output place covers; `None` in the padding.
    fn place(&self, output: &[usize], tap: &[usize], input: &[usize]) -> Option<Vec<usize>> {
        let axis = |a: usize| {
            let place = (output[a] * self.stride[a] + tap[a] * self.dilation[a]).checked_sub(self.before[a])?;
            (place < input[a]).then_some(place)
        };
        (0..input.len()).map(axis).collect()
    }

    fn taps(&self) -> Vec<Vec<usize>> {
        let mut taps = Vec::new();
        let _ = Array::<f64>::from_fn(self.kernel, |tap| {
            taps.push(tap.to_vec());
            Some(0.0)
        });
        taps
    }
}

/// The shape cut before the last `rank` axes.
fn cut(shape: &[usize], rank: usize) -> Option<(&[usize], &[usize])> {
    shape.split_at_checked(shape.len().checked_sub(rank)?)
}

pub(super) fn convolution<N: Number>(node: &Node, x: &Array<N>) -> Option<Array<N>> {
    let geometry = Geometry::of(node)?;
    let (leading, input) = cut(&x.shape, node.number("spatial_rank")?)?;
    let (channels, batch) = leading.split_last()?;
    let (weight, bias) = (numbers::<N>(node.field("weight")?), numbers::<N>(node.field("bias")?));
    let shape = [batch, &bias.shape, &geometry.output(input)?].concat();
    let taps = geometry.taps();
    Array::from_fn(&shape, |at| {
        let (batch, rest) = at.split_at(batch.len());
        let mut sum = bias.at(&rest[..1]).clone();
        for tap in &taps {
            let Some(place) = geometry.place(&rest[1..], tap, input) else { continue };
            for channel in 0..*channels {
                let factor = weight.at(&[&[rest[0], channel][..], tap].concat());
                sum = sum.plus(&factor.times(x.at(&[batch, &[channel], &place].concat())));
            }
        }
        Some(sum)
    })
}

/// `out[y] = bias + Σ weight[i, o, k]·in[i, x]` over `y = x·stride + k·d − before`.
pub(super) fn transposed<N: Number>(node: &Node, x: &Array<N>) -> Option<Array<N>> {
    let geometry = Geometry::of(node)?;
    let (leading, input) = cut(&x.shape, node.number("spatial_rank")?)?;
    let (channels, batch) = leading.split_last()?;
    let (weight, bias) = (numbers::<N>(node.field("weight")?), numbers::<N>(node.field("bias")?));
    let more = node.list("output_padding")?;
    let extent = |a: usize| {
        let reach = (input[a] - 1) * geometry.stride[a] + (geometry.kernel[a] - 1) * geometry.dilation[a];
        (reach + more[a] + 1).checked_sub(geometry.before[a] + geometry.after[a])
    };
    let output = (0..input.len()).map(extent).collect::<Option<Vec<_>>>()?;
    let taps = geometry.taps();
    let inputs = Array::from_fn(input, |_| Some(0.0))?;
    Array::from_fn(&[batch, &bias.shape, &output].concat(), |at| {
        let (batch, rest) = at.split_at(batch.len());
        let mut sum = bias.at(&rest[..1]).clone();
        let mut index = vec![0; input.len()];
        for _ in 0..inputs.values.len() {
            for tap in &taps {
                let meets = (0..input.len()).all(|a| {
                    index[a] * geometry.stride[a] + tap[a] * geometry.dilation[a] == rest[1 + a] + geometry.before[a]
                });
                for channel in (0..*channels).filter(|_| meets) {
                    let factor = weight.at(&[&[channel, rest[0]][..], tap].concat());
                    sum = sum.plus(&factor.times(x.at(&[batch, &[channel], &index].concat())));
                }
            }
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < input[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Some(sum)
    })
}

pub(super) fn pool<N: Number>(node: &Node, x: &Array<N>) -> Option<Array<N>> {
    let geometry = Geometry::of(node)?;
    let (leading, input) = cut(&x.shape, node.number("spatial_rank")?)?;
    let taps = geometry.taps();
    Array::from_fn(&[leading, &geometry.output(input)?].concat(), |at| {
        let (leading, output) = at.split_at(leading.len());
        let inside = taps.iter().filter_map(|tap| geometry.place(output, tap, input));
        let mut members: Vec<N> = inside.map(|place| x.at(&[leading, &place].concat()).clone()).collect();
        if node.kind == "max_pool" {
            return members.into_iter().reduce(N::greater);
        }
        if node.number("count_include_pad")? == 1 {
            members.resize(taps.len(), N::zero());
        }
        mean(&members)
    })
}
