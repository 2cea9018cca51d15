//! Arrays, and operators that move elements.

use super::{Number, numbers, sum};
use crate::net::Node;

/// An array in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<N> {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its elements.
    pub values: Vec<N>,
}

impl<N: Number> Array<N> {
    /// The array with this element at each multi-index.
    pub fn from_fn(shape: &[usize], mut element: impl FnMut(&[usize]) -> Option<N>) -> Option<Self> {
        let count: usize = shape.iter().product();
        let mut index = vec![0; shape.len()];
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(element(&index)?);
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Some(Self { shape: shape.to_vec(), values })
    }

    /// The element at a multi-index within the shape.
    pub fn at(&self, index: &[usize]) -> &N {
        assert_eq!(self.shape.len(), index.len());
        let place = self.shape.iter().zip(index).fold(0, |place, (extent, i)| {
            assert!(i < extent);
            place * extent + i
        });
        &self.values[place]
    }

    pub(super) fn map(&self, element: impl Fn(&N) -> Option<N>) -> Option<Self> {
        let values = self.values.iter().map(element).collect::<Option<_>>()?;
        Some(Self { shape: self.shape.clone(), values })
    }

    pub(super) fn zip(&self, other: &Self, element: impl Fn(&N, &N) -> Option<N>) -> Option<Self> {
        if self.shape != other.shape {
            return None;
        }
        let values = self.values.iter().zip(&other.values).map(|(a, b)| element(a, b)).collect::<Option<_>>()?;
        Some(Self { shape: self.shape.clone(), values })
    }

    /// Over these axes, which become 1 or vanish.
    pub(super) fn reduce(&self, axes: &[usize], keep: bool, fold: impl Fn(&[N]) -> Option<N>) -> Option<Self> {
        let of = |axis: &usize| if axes.contains(axis) { 1 } else { self.shape[*axis] };
        let all: Vec<usize> = (0..self.shape.len()).collect();
        let kept = Self::from_fn(&all.iter().map(of).collect::<Vec<_>>(), |at| {
            let mut members = Vec::new();
            let _ = Array::from_fn(&self.shape, |inner| {
                if all.iter().all(|axis| axes.contains(axis) || inner[*axis] == at[*axis]) {
                    members.push(self.at(inner).clone());
                }
                Some(N::zero())
            });
            fold(&members)
        })?;
        let shape = if keep {
            kept.shape
        } else {
            all.iter().filter(|axis| !axes.contains(axis)).map(|axis| self.shape[*axis]).collect()
        };
        Some(Self { shape, values: kept.values })
    }

    /// `torch.matmul`.
    pub(super) fn matmul(&self, other: &Self) -> Option<Self> {
        let (mut left, mut right) = (self.clone(), other.clone());
        let (row, column) = (left.shape.len() == 1, right.shape.len() == 1);
        if row {
            left.shape.insert(0, 1);
        }
        if column {
            right.shape.push(1);
        }
        let (a, b) = (left.shape.len().checked_sub(2)?, right.shape.len().checked_sub(2)?);
        if left.shape[a + 1] != right.shape[b] {
            return None;
        }
        let batch = broadcast(&left.shape[..a], &right.shape[..b])?;
        let inner = right.shape[b];
        let shape = [&batch[..], &[left.shape[a], right.shape[b + 1]]].concat();
        let product = Self::from_fn(&shape, |at| {
            let (i, j) = (at[batch.len()], at[batch.len() + 1]);
            let place = |shape: &[usize], last: [usize; 2]| {
                [&aligned(&at[..batch.len()], &shape[..shape.len() - 2])[..], &last].concat()
            };
            let terms =
                (0..inner).map(|k| left.at(&place(&left.shape, [i, k])).times(right.at(&place(&right.shape, [k, j]))));
            Some(sum(&terms.collect::<Vec<_>>()))
        })?;
        let mut shape = product.shape;
        if column {
            shape.pop();
        }
        if row {
            shape.remove(batch.len());
        }
        Some(Self { shape, values: product.values })
    }
}

/// The shape that two shapes broadcast to.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |own| shape[own]);
    (0..rank)
        .map(|axis| match (extent(a, axis), extent(b, axis)) {
            (1, other) | (other, 1) => Some(other),
            (one, other) => (one == other).then_some(one),
        })
        .collect()
}

/// The index in an array of this shape, right-aligned, that an index of the broadcast array means.
fn aligned(at: &[usize], shape: &[usize]) -> Vec<usize> {
    let at = &at[at.len() - shape.len()..];
    at.iter().zip(shape).map(|(i, extent)| if *extent == 1 { 0 } else { *i }).collect()
}

/// Operators whose elements are those of their parents, and perhaps one number.
pub(super) fn moved<N: Number>(node: &Node, parents: &[&Array<N>]) -> Option<Array<N>> {
    let x = *parents.first()?;
    let along = |axis: usize, extent: usize, from: &dyn Fn(usize) -> usize| {
        let mut shape = x.shape.clone();
        *shape.get_mut(axis)? = extent;
        Array::from_fn(&shape, |at| {
            let mut inner = at.to_vec();
            inner[axis] = from(at[axis]);
            Some(x.at(&inner).clone())
        })
    };
    match node.kind {
        "concat" => concat(node.number("axis")?, parents),
        "slice" => {
            let (start, stop, step) = (node.list("start")?, node.list("stop")?, node.list("step")?);
            let shape: Vec<usize> = (0..x.shape.len()).map(|a| (stop[a] - start[a]).div_ceil(step[a])).collect();
            let inner = |at: &[usize]| -> Vec<usize> {
                at.iter().enumerate().map(|(axis, i)| start[axis] + i * step[axis]).collect()
            };
            Array::from_fn(&shape, |at| Some(x.at(&inner(at)).clone()))
        }
        "split" => {
            let (sizes, index) = (node.list("sizes")?, node.number("index")?);
            let before: usize = sizes[..index].iter().sum();
            along(node.number("axis")?, sizes[index], &|i| before + i)
        }
        "gather" => {
            let (axis, indices) = (node.number("axis")?, node.list("indices")?);
            let taken = along(axis, indices.len(), &|i| indices[i])?;
            let shape = [&x.shape[..axis], node.list("indices_shape")?, &x.shape[axis + 1..]].concat();
            Some(Array { shape, values: taken.values })
        }
        "pad" => {
            let (before, after) = (node.list("padding")?, node.list("padding_after")?);
            let value = numbers::<N>(node.field("value")?).values[0].clone();
            let shape: Vec<usize> = (0..x.shape.len()).map(|a| before[a] + x.shape[a] + after[a]).collect();
            Array::from_fn(&shape, |at| {
                let inner = at.iter().zip(before).map(|(i, before)| i.checked_sub(*before));
                let inner = inner.collect::<Option<Vec<usize>>>();
                let inner = inner.filter(|inner| inner.iter().zip(&x.shape).all(|(i, extent)| i < extent));
                Some(inner.map_or_else(|| value.clone(), |inner| x.at(&inner).clone()))
            })
        }
        "upsample" => {
            let scale = node.list("scale")?;
            let shape: Vec<usize> = x.shape.iter().zip(scale).map(|(extent, scale)| extent * scale).collect();
            let inner = |at: &[usize]| -> Vec<usize> { at.iter().zip(scale).map(|(i, scale)| i / scale).collect() };
            Array::from_fn(&shape, |at| Some(x.at(&inner(at)).clone()))
        }
        "permute" | "transpose" => {
            let perm = if node.kind == "permute" {
                node.list("perm")?.to_vec()
            } else {
                let mut perm: Vec<usize> = (0..x.shape.len()).collect();
                perm.swap(node.number("axis1")?, node.number("axis2")?);
                perm
            };
            let shape: Vec<usize> = perm.iter().map(|axis| x.shape[*axis]).collect();
            Array::from_fn(&shape, |at| {
                let mut inner = vec![0; at.len()];
                perm.iter().zip(at).for_each(|(axis, i)| inner[*axis] = *i);
                Some(x.at(&inner).clone())
            })
        }
        "broadcast_to" | "expand" => {
            let to = node.list("to_shape")?;
            let shape = broadcast(&x.shape, to)?;
            Array::from_fn(&shape, |at| Some(x.at(&aligned(at, &x.shape)).clone()))
        }
        "detach" | "tuple_getitem" => Some(x.clone()),
        _ => {
            let shape = match node.kind {
                "flatten" => vec![x.values.len()],
                "reshape" => node.list("out_shape")?.to_vec(),
                "squeeze" => {
                    let axes = node.list("axes")?;
                    let kept = x.shape.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
                    kept.map(|(_, extent)| *extent).collect()
                }
                _ => {
                    let axes = node.list("axes")?;
                    let mut rest = x.shape.iter();
                    let rank = x.shape.len() + axes.len();
                    (0..rank)
                        .map(|axis| if axes.contains(&axis) { Some(1) } else { rest.next().copied() })
                        .collect::<Option<_>>()?
                }
            };
            (shape.iter().product::<usize>() == x.values.len()).then(|| Array { shape, values: x.values.clone() })
        }
    }
}

fn concat<N: Number>(axis: usize, parents: &[&Array<N>]) -> Option<Array<N>> {
    let mut shape = parents.first()?.shape.clone();
    *shape.get_mut(axis)? = 0;
    for parent in parents {
        let like = parent.shape.len() == shape.len()
            && (0..shape.len()).all(|own| own == axis || parent.shape[own] == shape[own]);
        if !like {
            return None;
        }
        shape[axis] += parent.shape[axis];
    }
    Array::from_fn(&shape, |at| {
        let mut inner = at.to_vec();
        for parent in parents {
            if inner[axis] < parent.shape[axis] {
                return Some(parent.at(&inner).clone());
            }
            inner[axis] -= parent.shape[axis];
        }
        None
    })
}
