//! Medians and spreads of pairs.

/// The median of a sample, and the middle half of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Of an empty sample there is none.
    pub(crate) fn of(mut sample: Vec<f64>) -> Option<Self> {
        sample.sort_by(f64::total_cmp);
        let last = sample.len().checked_sub(1)?;
        // Between two numbers of the sample in proportion.
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (sample[place.floor() as usize], sample[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Some(Self { median: at(0.5), low: at(0.25), high: at(0.75) })
    }

    /// Of the ratios of pairs: second over first.
    pub(crate) fn of_ratios(pairs: &[[f64; 2]]) -> Option<Self> {
        Self::of(pairs.iter().map(|[first, second]| second / first).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quarters_by_hand() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]).unwrap();
        assert_eq!(spread, Spread { median: 3.0, low: 2.0, high: 4.0 });
        let spread = Spread::of(vec![1.0, 2.0, 4.0, 8.0]).unwrap();
        assert_eq!(spread, Spread { median: 3.0, low: 1.75, high: 5.0 });
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(Spread::of_ratios(&[[2.0, 3.0]]).unwrap().median, 1.5);
    }
}
