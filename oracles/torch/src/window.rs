//! What convolutions and pools have for each spatial axis, as PyTorch takes it.

use crate::site::{Refusal, Site, tuple};

const SYMMETRIC: &str = "pad first, with a node `pad`";

impl Site<'_> {
    /// `, name=(…)`, or nothing where every number is PyTorch's default.
    pub(crate) fn keyword(&self, name: &str, default: usize) -> String {
        let numbers = self.list(name);
        if numbers.iter().all(|number| *number == default) {
            String::new()
        } else {
            format!(", {name}={}", tuple(numbers))
        }
    }

    /// The spatial rank of a layer that PyTorch has for one, two and three axes, after one channel axis and at most one batch axis.
    pub(crate) fn spatial_rank(&self) -> Result<usize, Refusal> {
        let (rank, axes) = (self.number("spatial_rank"), self.source_shape().len());
        if (1..=3).contains(&rank) && (rank + 1..=rank + 2).contains(&axes) {
            return Ok(rank);
        }
        Err(self.refuse(format!("{rank} spatial axes of {axes}"), "reshape to (batch, channel, 1 to 3 axes)"))
    }

    /// The padding of a convolution, as a keyword: numbers, or `"same"` with the odd place after.
    pub(crate) fn convolution_padding(&self) -> Result<String, Refusal> {
        let (before, after) = (self.list("padding"), self.list("padding_after"));
        if before == after {
            return Ok(self.keyword("padding", 0));
        }
        let totals = self.list("kernel").iter().zip(self.list("dilation")).map(|(k, d)| (k - 1) * d);
        let halves: Vec<(usize, usize)> = totals.map(|total| (total / 2, total - total / 2)).collect();
        let same = before.iter().copied().zip(after.iter().copied()).eq(halves);
        if same && self.list("stride").iter().all(|stride| *stride == 1) {
            return Ok(", padding=\"same\"".to_owned());
        }
        Err(self.refuse(format!("padding {before:?} before and {after:?} after"), SYMMETRIC))
    }

    /// The padding of what takes the same on both sides, as a keyword.
    pub(crate) fn even_padding(&self) -> Result<String, Refusal> {
        let (before, after) = (self.list("padding"), self.list("padding_after"));
        if before == after {
            return Ok(self.keyword("padding", 0));
        }
        Err(self.refuse(format!("padding {before:?} before and {after:?} after"), SYMMETRIC))
    }

    /// Kernel, stride and padding of a pool, whose padding PyTorch wants to be at most half the kernel.
    pub(crate) fn pool(&self) -> Result<String, Refusal> {
        let (kernel, padding) = (self.list("kernel"), self.list("padding"));
        if kernel.iter().zip(padding).any(|(k, p)| p * 2 > *k) {
            return Err(self.refuse(format!("padding {padding:?} of a kernel {kernel:?}"), SYMMETRIC));
        }
        let stride = if self.list("stride") == kernel {
            String::new()
        } else {
            format!(", stride={}", tuple(self.list("stride")))
        };
        Ok(format!("{}{stride}{}", tuple(kernel), self.keyword("padding", 0)))
    }

    /// `, ceil_mode=True` where a maximum has more padding after and PyTorch's rule for windows that hang over gives the same shape.
    pub(crate) fn overhang(&self, rank: usize) -> Result<&'static str, Refusal> {
        let (before, after) = (self.list("padding"), self.list("padding_after"));
        if before == after {
            return Ok("");
        }
        let (from, to) = (self.source_shape(), self.node.shape());
        let starts = (from.len() - rank, to.len() - rank);
        let fits = (0..rank).all(|axis| {
            let (length, padding, stride) = (from[starts.0 + axis], before[axis], self.list("stride")[axis]);
            let window = (self.list("kernel")[axis] - 1) * self.list("dilation")[axis] + 1;
            let Some(room) = (length + 2 * padding).checked_sub(window) else { return false };
            let places = room.div_ceil(stride) + 1;
            // A window must begin before the padding after.
            let places = if (places - 1) * stride >= length + padding { places - 1 } else { places };
            places == to[starts.1 + axis]
        });
        if fits {
            Ok(", ceil_mode=True")
        } else {
            Err(self.refuse(format!("padding {before:?} before and {after:?} after"), SYMMETRIC))
        }
    }
}
