//! Common denominators of bounded length.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::One;
use std::borrow::Borrow;

/// The least common multiple; `None` if it has more than `most` bits.
#[must_use]
pub(crate) fn common_denominator(denominators: impl Iterator<Item = impl Borrow<BigInt>>, most: u64) -> Option<BigInt> {
    let mut lcm = BigInt::one();
    for denominator in denominators {
        lcm = lcm.lcm(denominator.borrow());
        if lcm.bits() > most {
            return None;
        }
    }
    Some(lcm)
}

/// `n` without its factors of two.
#[must_use]
pub(crate) fn odd_part(n: &BigInt) -> BigInt {
    n >> n.trailing_zeros().unwrap_or(0)
}
