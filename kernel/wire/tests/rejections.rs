//! Rejections as data.

use certkern_wire::{Fault, Place, Reason, Rejection};

#[test]
fn at_most_a_hundred_faults() {
    let fault = |i: usize| Fault { reason: Reason::GraphEmpty, place: Place::path(format!("{i}")) };
    let rejection = Rejection::of((0..500).map(fault).collect()).unwrap();
    assert_eq!(rejection.faults().count(), Rejection::MOST);
    assert_eq!(rejection.first().place.path, "0");
}
