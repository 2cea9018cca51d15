//! Sums of arcus tangents that are one at any precision: `atan a + atan b = atan((a + b)/(1 − a·b))` where `a·b < 1`, on binary fractions.

mod support;

use certkern_core::func::Elementary;
use certkern_core::num::Dyadic;
use support::q;

#[test]
fn arcus_tangents_add_up_at_every_precision() {
    let atan = Elementary::new("atan", Vec::new()).unwrap();
    // Numerator and binary exponent of a, b and their sum.
    let cases = [
        [(1, -1), (1, 0), (3, 0)],
        [(1, -1), (3, -1), (8, 0)],
        [(1, -2), (2, 0), (9, -1)],
        [(3, -2), (1, 0), (7, 0)],
        [(5, -3), (3, -1), (34, 0)],
    ];
    let near_five_words = (280..330).step_by(2);
    for bits in [20, 50, 64, 65, 120, 128, 190, 256, 450, 600, 900, 1300, 2000].into_iter().chain(near_five_words) {
        for case in cases {
            let [a, b, sum] = case.map(|(numerator, exponent)| {
                let x = Dyadic::new(numerator, exponent);
                let ball = atan.at(&x, bits).unwrap();
                let width = ball.upper().to_rational() - ball.lower().to_rational();
                assert!(
                    width <= ball.upper().to_rational() * q(1, 1) / num_traits::Pow::pow(&q(2, 1), bits as u32 - 2)
                );
                ball
            });
            let ends = |x: &Dyadic, y: &Dyadic| x.to_rational() + y.to_rational();
            assert!(ends(&a.lower(), &b.lower()) <= sum.upper().to_rational(), "{case:?} {bits}");
            assert!(ends(&a.upper(), &b.upper()) >= sum.lower().to_rational(), "{case:?} {bits}");
        }
    }
}
