//! Tensors as they are stored.

use certkern_core::tensor::{Tensor, Values};

#[test]
fn zero_has_two_signs_and_the_least_number_is_not_zero() {
    // IEEE 754: the sign is the highest bit; 1 is the least positive number.
    for (bits, zero) in [(0_u64, true), (1 << 63, true), (1, false), ((1 << 63) | 1, false)] {
        let tensor = |values| Tensor::new(vec![1], values).unwrap();
        assert_eq!(tensor(Values::Binary64(vec![bits])).is_zero(), zero, "{bits:x}");
        let short = (bits >> 32) as u32 | bits as u32;
        assert_eq!(tensor(Values::Binary32(vec![short])).is_zero(), zero, "{short:x}");
    }
}
