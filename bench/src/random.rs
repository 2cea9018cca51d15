//! Seeded numbers: the same on every machine up to the last bits of a logarithm.

/// The 64 bits that belong to `place` under `seed` (SplitMix64 over both).
pub(crate) fn bits(seed: u64, place: u64) -> u64 {
    let mut z = seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Evenly in `[0, 1)`, with 24 bits, so that it is a binary32 number.
pub(crate) fn unit(seed: u64, place: u64) -> f32 {
    (bits(seed, place) >> 40) as f32 / (1 << 24) as f32
}

/// A stream of numbers.
pub(crate) struct Stream {
    seed: u64,
    place: u64,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, place: 0 }
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.place += 1;
        bits(self.seed, self.place)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.bits() >> 11) as usize % count
    }

    /// Evenly in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normally distributed (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}
