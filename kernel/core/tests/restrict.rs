//! What rows on inputs alone cut off a box.

mod support;

use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::Problem;
use support::{Net, Op, dense, q};

#[test]
fn a_row_that_cuts_nothing_off_leaves_the_whole_box() {
    let net = || Net { ops: vec![Op::Input(1), Op::Affine(vec![(0, dense(1, 1, &[1], 1))], None)], outputs: vec![1] };
    // x ≤ bound on [−1, 1], and −x ≤ bound.
    let row = |sign: i64, bound: Rational| Row { terms: vec![(Variable::X(0), q(sign, 1))], bound, strict: false };
    let of_input = |sign: i64, bound: Rational| {
        let disjuncts = vec![disjunct([row(sign, bound)])];
        let property = Property { lower: vec![q(-1, 1)], upper: vec![q(1, 1)], outputs: 1, disjuncts };
        Problem::new(net().build(), property).unwrap().has_whole_region(0).unwrap()
    };
    for sign in [1, -1] {
        assert!(of_input(sign, q(1, 1)) && of_input(sign, q(3, 2)));
        assert!(!of_input(sign, q(1, 2)) && !of_input(sign, q(-2, 1)));
    }
}
