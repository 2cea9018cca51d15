//! Every mode of the unit in which the filter tier would be wrong is noticed.

#![cfg(target_arch = "x86_64")]

use certkern_core::filter::unit::rounds_to_nearest;
use certkern_float_unit::{mode, with_flipped};

/// Bits of MXCSR: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, section 10.2.3.
const SUBNORMAL_OPERANDS_ARE_ZEROS: u32 = 1 << 6;
const DOWN: u32 = 1 << 13;
const UP: u32 = 1 << 14;
const TOWARDS_ZERO: u32 = DOWN | UP;
const SUBNORMAL_RESULTS_ARE_ZEROS: u32 = 1 << 15;

#[test]
fn other_modes_are_noticed() {
    assert!(rounds_to_nearest(), "in the usual mode");
    let usual = mode();
    for bits in [
        DOWN,
        UP,
        TOWARDS_ZERO,
        SUBNORMAL_OPERANDS_ARE_ZEROS,
        SUBNORMAL_RESULTS_ARE_ZEROS,
        SUBNORMAL_OPERANDS_ARE_ZEROS | SUBNORMAL_RESULTS_ARE_ZEROS,
    ] {
        assert!(!with_flipped(bits, rounds_to_nearest), "bits {bits:#x}");
        assert_eq!(mode() & TOWARDS_ZERO, usual & TOWARDS_ZERO, "the mode is the usual one again");
        assert!(rounds_to_nearest(), "in the usual mode again");
    }
}

#[test]
fn the_mode_of_another_thread_does_not_count() {
    let changed = std::thread::spawn(|| with_flipped(UP, rounds_to_nearest));
    assert!(rounds_to_nearest());
    assert!(!changed.join().unwrap());
}
