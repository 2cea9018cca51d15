//! Choices from the bytes of an input.

use arbitrary::Unstructured;
use certkern_core::num::Rational;

/// Bytes that go on when those of the input are used up: even a short input makes something whole.
const TAIL: usize = 1 << 12;

/// Bytes that differ from each other and from seed to seed in every place: the first steps of SplitMix64.
pub(crate) fn seeded(seed: u64) -> Vec<u8> {
    let word = |step: u64| {
        let z = seed.wrapping_mul(4).wrapping_add(step).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..4).flat_map(|step| word(step).to_le_bytes()).collect()
}

/// The bytes of an input, and what a generator seeded by them adds.
pub(crate) fn extended(data: &[u8]) -> Vec<u8> {
    let seed = data
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let mut state = seed | 1;
    let mut bytes = data.to_vec();
    while bytes.len() < data.len() + TAIL {
        // xorshift64*.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        bytes.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
    bytes
}

/// What is chosen by the bytes.
pub(crate) struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Below `count`, which is at least 1; 0 when the bytes are used up.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.int_in_range(0..=count.saturating_sub(1)).unwrap_or(0)
    }

    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.int_in_range(low..=high).unwrap_or(low)
    }

    /// One time in `count`.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A number for weights: whole ones, eighths, tenths, full mantissas, tiny ones, next to one, zero, now and then a huge one.
    pub(crate) fn number(&mut self) -> f64 {
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        match self.below(12) {
            0..=3 => self.between(-3, 3) as f64,
            4 | 5 => self.between(-16, 16) as f64 / 8.0,
            6 | 7 => self.between(-20, 20) as f64 / 10.0,
            8 => sign * f64::from_bits(0x3ff0_0000_0000_0000 | (self.bits() >> 12)),
            9 => sign * (1.0 + self.between(-2, 2) as f64 * f64::EPSILON),
            10 => sign * f64::powi(2.0, -(self.below(80) as i32)),
            _ if self.one_in(40) => sign * f64::powi(2.0, self.below(1000) as i32),
            _ => 0.0,
        }
    }

    /// A short rational, thirds and tenths among them.
    pub(crate) fn ratio(&mut self) -> Rational {
        let denominator = self.pick(&[1, 1, 2, 3, 8, 10]);
        Rational::new(self.between(-12, 12).into(), denominator.into())
    }

    /// A room above zero or at it: none, tiny, or some.
    pub(crate) fn room(&mut self) -> Rational {
        match self.below(4) {
            0 => Rational::from_integer(0.into()),
            1 => Rational::new(1.into(), num_bigint::BigInt::from(1) << self.below(70)),
            _ => Rational::new(self.between(1, 12).into(), self.pick(&[1, 2, 3, 10]).into()),
        }
    }
}
