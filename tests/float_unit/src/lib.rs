//! Runs code with the floating-point unit in another mode. For tests alone.

#![cfg(target_arch = "x86_64")]

use std::arch::asm;

/// The mode of the SSE and AVX units of this thread (MXCSR).
#[must_use]
pub fn mode() -> u32 {
    let mut mode = 0_u32;
    // SAFETY: stores four bytes at the address of a variable of four bytes.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
    mode
}

/// Calls `run` with the bits `bits` of the mode flipped. `run` should do nothing but ask how the unit computes: the compiler takes the
/// usual mode for granted.
pub fn with_flipped<R>(bits: u32, run: fn() -> R) -> R {
    let usual = mode();
    set(usual ^ bits);
    let result = std::hint::black_box(run)();
    set(usual);
    result
}

fn set(mode: u32) {
    // SAFETY: loads four bytes from a variable of four bytes. Callers pass a mode that was read, with bits flipped that are no
    // reserved ones and no exception masks.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
}
