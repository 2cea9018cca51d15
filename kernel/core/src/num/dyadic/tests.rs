use super::*;

fn d(m: i64, e: i64) -> Dyadic {
    Dyadic::new(m, e)
}

#[test]
fn floats_are_the_dyadics_their_bits_spell() {
    assert_eq!(Dyadic::from_f64_bits(1.5_f64.to_bits()), Some(d(3, -1)));
    assert_eq!(Dyadic::from_f64_bits(1), Some(d(1, -1074)));
    assert_eq!(Dyadic::from_f32_bits(1), Some(d(1, -149)));
    assert_eq!(Dyadic::from_f32_bits(f32::MIN_POSITIVE.to_bits()), Some(d(1, -126)));
    assert_eq!(Dyadic::from_f32_bits((-0.0_f32).to_bits()), Some(Dyadic::zero()));
    // 0.1 in binary32 is 13421773 / 2^27.
    assert_eq!(Dyadic::from_f32_bits(0.1_f32.to_bits()), Some(d(13_421_773, -27)));
    assert_eq!(Dyadic::from_f32_bits(f32::INFINITY.to_bits()), None);
    assert_eq!(Dyadic::from_f64_bits(f64::NAN.to_bits()), None);
}

#[test]
fn rounding_is_outward_on_both_sides_of_zero() {
    assert_eq!(d(7, 0).round_down(2), d(6, 0));
    assert_eq!(d(7, 0).round_up(2), d(8, 0));
    assert_eq!(d(-7, 0).round_down(2), d(-8, 0));
    assert_eq!(d(-7, 0).round_up(2), d(-6, 0));
    let third = Rational::new(1.into(), 3.into());
    assert_eq!(Dyadic::floor_rational(&third, -2), d(1, -2));
    assert_eq!(Dyadic::ceil_rational(&third, -2), d(1, -1));
    assert_eq!(Dyadic::floor_rational(&-third, -2), d(-1, -1));
}

#[test]
fn order_and_arithmetic_follow_the_rationals() {
    let samples = [d(0, 0), d(1, 3), d(-5, -2), d(3, -7), d(-1, 0), d(12, 1)];
    for a in &samples {
        for b in &samples {
            let (x, y) = (a.to_rational(), b.to_rational());
            assert_eq!(a.cmp(b), x.cmp(&y));
            assert_eq!((a + b).to_rational(), &x + &y);
            assert_eq!((a - b).to_rational(), &x - &y);
            assert_eq!((a * b).to_rational(), &x * &y);
        }
        assert_eq!(Dyadic::from_rational(&a.to_rational()).as_ref(), Some(a));
    }
}
