//! Dyadic rationals whose mantissa is a machine word: the numbers that binary formats spell.

/// The number `mantissa · 2^exponent`. The mantissa is odd, or it is zero with exponent zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    mantissa: i64,
    exponent: i64,
}

impl Short {
    /// The number that binary64 `bits` spell; `None` for NaN and infinities.
    #[must_use]
    pub fn from_f64_bits(bits: u64) -> Option<Self> {
        Self::from_ieee(bits >> 63 != 0, (bits >> 52) & 0x7ff, bits & ((1 << 52) - 1), 52, 0x7ff)
    }

    /// The number that binary32 `bits` spell; `None` for NaN and infinities.
    #[must_use]
    pub fn from_f32_bits(bits: u32) -> Option<Self> {
        let bits = u64::from(bits);
        Self::from_ieee(bits >> 31 != 0, (bits >> 23) & 0xff, bits & ((1 << 23) - 1), 23, 0xff)
    }

    /// IEEE 754-2019 section 3.4: `(-1)^s · 1.f · 2^(e − bias)`, or `0.f · 2^(1 − bias)` when `e = 0`; `bias = top / 2`.
    fn from_ieee(negative: bool, biased: u64, fraction: u64, width: u32, top: u64) -> Option<Self> {
        if biased == top {
            return None;
        }
        let (significand, biased) =
            if biased == 0 { (fraction, 1) } else { (fraction | 1_u64.checked_shl(width)?, biased) };
        let exponent = i64::try_from(biased).ok()?.checked_sub(i64::try_from(top >> 1).ok()?)?;
        if significand == 0 {
            return Some(Self { mantissa: 0, exponent: 0 });
        }
        let zeros = significand.trailing_zeros();
        let odd = i64::try_from(significand.checked_shr(zeros)?).ok()?;
        let exponent = exponent.checked_sub(i64::from(width))?.checked_add(i64::from(zeros))?;
        Some(Self { mantissa: if negative { odd.checked_neg()? } else { odd }, exponent })
    }

    /// The odd mantissa (or zero).
    #[must_use]
    pub fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// The exponent of two.
    #[must_use]
    pub fn exponent(self) -> i64 {
        self.exponent
    }
}
