//! Geometry of a convolution with zero padding over any number of spatial axes.

/// Cross-correlation as ONNX `Conv` and `torch.nn.ConvNd` define it: output `(o, y)` is `Σ_{i,k} w[o,i,k] · x[i, y·stride − padding + k·dilation]`,
/// where places outside the input count as zero.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// Independent inputs.
    pub batch: usize,
    /// Channels of the input.
    pub in_channels: usize,
    /// Channels of the output.
    pub out_channels: usize,
    /// Spatial lengths of the input.
    pub input: Vec<usize>,
    /// Spatial lengths of the kernel.
    pub kernel: Vec<usize>,
    /// Steps between outputs, for each spatial axis.
    pub stride: Vec<usize>,
    /// Zeros before the input, for each spatial axis.
    pub padding: Vec<usize>,
    /// Steps between kernel places, for each spatial axis.
    pub dilation: Vec<usize>,
    /// Spatial lengths of the output.
    pub output: Vec<usize>,
}

/// The product of axis lengths, where it fits.
pub(super) fn volume(axes: &[usize]) -> Option<usize> {
    axes.iter().try_fold(1_usize, |n, d| n.checked_mul(*d))
}

impl Convolution {
    /// The numbers of kernel places, input places and output places, each over all spatial axes.
    #[must_use]
    pub fn volumes(&self) -> Option<(usize, usize, usize)> {
        Some((volume(&self.kernel)?, volume(&self.input)?, volume(&self.output)?))
    }

    /// For each output place and kernel place, in row-major order, the flat input place, or `None` in the padding.
    pub(super) fn taps(&self) -> Option<Vec<Option<usize>>> {
        let rank = self.input.len();
        if [&self.kernel, &self.stride, &self.padding, &self.dilation, &self.output].iter().any(|a| a.len() != rank) {
            return None;
        }
        // Without a step many places would meet in one, more terms of a sum than are counted.
        if self.dilation.contains(&0) || self.stride.contains(&0) {
            return None;
        }
        // The farthest place fits, so `tap` gives `None` for places outside the input alone.
        for ((output, stride), (kernel, dilation)) in
            self.output.iter().zip(&self.stride).zip(self.kernel.iter().zip(&self.dilation))
        {
            output.checked_mul(*stride)?.checked_add(kernel.checked_mul(*dilation)?)?;
        }
        let (places, kernel) = (volume(&self.output)?, volume(&self.kernel)?);
        let mut taps = Vec::with_capacity(places.checked_mul(kernel)?);
        for place in 0..places {
            for k in 0..kernel {
                taps.push(self.tap(place, k));
            }
        }
        Some(taps)
    }

    /// The input place of one tap: on each axis `y·stride + k·dilation − padding`, if that lies in the input. Axes run from the last to the first.
    fn tap(&self, mut place: usize, mut kernel: usize) -> Option<usize> {
        let mut flat = 0_usize;
        let mut step = 1_usize;
        let sizes = self.output.iter().zip(&self.kernel).zip(&self.input).rev();
        let moves = self.stride.iter().zip(&self.dilation).zip(&self.padding).rev();
        for (((output, kernel_size), input), ((stride, dilation), padding)) in sizes.zip(moves) {
            let y = place.checked_rem(*output)?;
            let k = kernel.checked_rem(*kernel_size)?;
            place = place.checked_div(*output)?;
            kernel = kernel.checked_div(*kernel_size)?;
            let x = y.checked_mul(*stride)?.checked_add(k.checked_mul(*dilation)?)?.checked_sub(*padding)?;
            if x >= *input {
                return None;
            }
            flat = flat.checked_add(x.checked_mul(step)?)?;
            step = step.checked_mul(*input)?;
        }
        Some(flat)
    }
}

/// Output places that one kernel place joins with input places, both at equal steps: output `output + i` with input `input + i·step`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) kernel: usize,
    pub(crate) output: usize,
    pub(crate) input: usize,
    pub(crate) length: usize,
    pub(crate) step: usize,
}

impl Span {
    /// The taps of a convolution by kernel place.
    pub(crate) fn of(taps: &[Option<usize>], kernel: usize) -> Vec<Self> {
        let mut spans = Vec::new();
        for k in 0..kernel {
            let mut open: Option<Self> = None;
            for (place, tap) in taps.iter().skip(k).step_by(kernel.max(1)).enumerate() {
                open = match (open, *tap) {
                    (Some(span), Some(input)) if span.extended(input).is_some() => span.extended(input),
                    (done, tap) => {
                        spans.extend(done);
                        tap.map(|input| Self { kernel: k, output: place, input, length: 1, step: 1 })
                    }
                };
            }
            spans.extend(open);
        }
        spans
    }

    /// The span with one more place, if `input` lies one step further.
    fn extended(self, input: usize) -> Option<Self> {
        let step = if self.length == 1 { input.checked_sub(self.input)? } else { self.step };
        let next = self.length.checked_mul(step)?.checked_add(self.input)?;
        (step > 0 && next == input).then_some(Self { length: self.length.saturating_add(1), step, ..self })
    }

    /// Whether all its places exist.
    pub(crate) fn fits(self, kernel: usize, outputs: usize, inputs: usize) -> bool {
        let last = self.length.saturating_sub(1).saturating_mul(self.step).saturating_add(self.input);
        self.kernel < kernel && self.output.saturating_add(self.length) <= outputs && last < inputs
    }
}
