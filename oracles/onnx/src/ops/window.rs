//! The window of a convolution or a pooling, one entry for each spatial axis.

use super::Call;
use crate::error::ImportError;

/// A window.
pub(super) struct Window {
    pub(super) kernel: Vec<usize>,
    pub(super) stride: Vec<usize>,
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    pub(super) dilation: Vec<usize>,
}

/// How `auto_pad` pads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Auto {
    /// As `pads` says, or not at all.
    Stated,
    /// So that the extents are divided by the strides.
    Same,
}

impl Window {
    /// Reads `pads`, `strides`, `auto_pad`, and `dilations` where the operator has them. `same` says whether SAME_UPPER and
    /// SAME_LOWER are understood.
    pub(super) fn read(
        call: &mut Call<'_>,
        kernel: &[usize],
        spatial: &[usize],
        dilated: bool,
        same: bool,
    ) -> Result<(Self, Auto), ImportError> {
        let rank = kernel.len();
        let mut before = list(call, "pads", vec![0; 2 * rank], 0)?;
        let after = before.split_off(rank);
        let stride = list(call, "strides", vec![1; rank], 1)?;
        let dilation = if dilated { list(call, "dilations", vec![1; rank], 1)? } else { vec![1; rank] };
        let mut window = Self { kernel: kernel.to_vec(), stride, before, after, dilation };
        let padded = window.padded();
        match call.attributes.string("auto_pad")? {
            None | Some(b"NOTSET") => Ok((window, Auto::Stated)),
            Some(b"VALID") if !padded => Ok((window, Auto::Stated)),
            Some(mode @ (b"SAME_UPPER" | b"SAME_LOWER")) if same && !padded => {
                let upper = mode == b"SAME_UPPER";
                window.pad_same(spatial, upper).ok_or_else(|| window.unfit(call, spatial))?;
                Ok((window, Auto::Same))
            }
            Some(_) => {
                let detail = "is unknown, stands beside pads, or differs between versions of onnx";
                Err(call.attribute("auto_pad", detail, "export the model with explicit pads"))
            }
        }
    }

    /// Whether there is any padding.
    pub(super) fn padded(&self) -> bool {
        self.before.iter().chain(&self.after).any(|pad| *pad != 0)
    }

    /// From the first place of the window to the last: `(k − 1)·dilation + 1`.
    pub(super) fn reach(&self, axis: usize) -> Option<usize> {
        self.kernel.get(axis)?.checked_sub(1)?.checked_mul(*self.dilation.get(axis)?)?.checked_add(1)
    }

    fn pad_same(&mut self, spatial: &[usize], upper: bool) -> Option<()> {
        for (axis, extent) in spatial.iter().enumerate() {
            let stride = *self.stride.get(axis)?;
            let steps = extent.div_ceil(stride).checked_sub(1)?;
            let total = steps.checked_mul(stride)?.checked_add(self.reach(axis)?)?.saturating_sub(*extent);
            let (less, more) = (total / 2, total - total / 2);
            (self.before[axis], self.after[axis]) = if upper { (less, more) } else { (more, less) };
        }
        Some(())
    }

    /// Pads behind until the extents are rounded up. A window that starts in the padding behind is left out where `drops`, and
    /// refused otherwise. Gives whether some padding grew.
    pub(super) fn round_up(&mut self, call: &Call<'_>, spatial: &[usize], drops: bool) -> Result<bool, ImportError> {
        let mut grew = false;
        for (axis, extent) in spatial.iter().enumerate() {
            let growth = |window: &Self| {
                let (stride, before) = (*window.stride.get(axis)?, *window.before.get(axis)?);
                let start = extent.checked_add(before)?;
                let padded = start.checked_add(*window.after.get(axis)?)?;
                let steps = padded.checked_sub(window.reach(axis)?)?.div_ceil(stride);
                let outside = steps.checked_mul(stride)? >= start;
                let steps = steps.checked_sub(usize::from(outside && drops)).filter(|_| drops || !outside)?;
                let grown = steps.checked_mul(stride)?.checked_add(window.reach(axis)?)?;
                Some(grown.saturating_sub(padded))
            };
            let more = growth(self).ok_or_else(|| self.unfit(call, spatial))?;
            self.after[axis] += more;
            grew |= more > 0;
        }
        Ok(grew)
    }

    /// The extents of the output along the spatial axes: `⌊(in + before + after − reach) / stride⌋ + 1`.
    pub(super) fn extents(&self, call: &Call<'_>, spatial: &[usize]) -> Result<Vec<usize>, ImportError> {
        let extent = |(axis, extent): (usize, &usize)| {
            let padded = extent.checked_add(*self.before.get(axis)?)?.checked_add(*self.after.get(axis)?)?;
            padded.checked_sub(self.reach(axis)?)?.checked_div(*self.stride.get(axis)?)?.checked_add(1)
        };
        spatial.iter().enumerate().map(extent).collect::<Option<_>>().ok_or_else(|| self.unfit(call, spatial))
    }

    pub(super) fn unfit(&self, call: &Call<'_>, spatial: &[usize]) -> ImportError {
        let detail = format!("the window {:?} does not fit an input of extents {spatial:?}", self.kernel);
        call.shape(detail, "export the model with windows that fit")
    }
}

/// A list attribute as long as `default`, of numbers that are at least `least`.
pub(super) fn list(
    call: &mut Call<'_>,
    name: &'static str,
    default: Vec<usize>,
    least: usize,
) -> Result<Vec<usize>, ImportError> {
    let Some(numbers) = call.attributes.ints(name)? else {
        return Ok(default);
    };
    let list: Vec<usize> = numbers.iter().filter_map(|number| usize::try_from(*number).ok()).collect();
    if list.len() != numbers.len() || list.len() != default.len() || list.iter().any(|number| *number < least) {
        let detail = format!("is {numbers:?}; wanted are {} numbers, each at least {least}", default.len());
        return Err(call.attribute(name, &detail, "write the file anew with onnx"));
    }
    Ok(list)
}
