//! Places where functions turn and bend that are no numbers of a few digits, against what mpmath 1.4.1 finds by bisection of the first and the second
//! derivative at 160 digits.

use super::library::shapes;
use super::{Cut, Cuts};
use crate::num::Rational;
use num_bigint::BigInt;

/// A function, whether it turns there (or else bends), and the place, its first fifty digits.
const PLACES: [(&str, bool, &str); 12] = [
    ("gelu", true, "-0.75179152469356445745790494677952403966447115342345"),
    ("gelu", false, "-1.4142135623730950488016887242096980785696718753769"),
    ("gelu", false, "1.4142135623730950488016887242096980785696718753769"),
    ("gelu_tanh", true, "-0.75246142207101625848795444328891609060539217803763"),
    ("gelu_tanh", false, "-1.4185040087908283555480335455996426979241583187885"),
    ("gelu_tanh", false, "1.4185040087908283555480335455996426979241583187885"),
    ("mish", true, "-1.1924312145154952121375883404207394056006864093225"),
    ("mish", false, "-2.2563763963607931200057485439501639062640349352344"),
    ("mish", false, "1.4905711794854284592944189081979098211278335012647"),
    ("silu", true, "-1.2784645427610737951093587390229801554394774886197"),
    ("silu", false, "-2.3993572805154676678327396972822838885229175768372"),
    ("silu", false, "2.3993572805154676678327396972822838885229175768372"),
];

/// `2¹²⁰` times the number that these digits spell, and what the last one may be off.
fn scaled(digits: &str) -> (Rational, Rational) {
    let places = u32::try_from(digits.split_once('.').unwrap().1.len()).unwrap();
    let unit = Rational::new(BigInt::from(1) << 120, BigInt::from(10).pow(places));
    let digits: BigInt = digits.replace('.', "").parse().unwrap();
    (Rational::from_integer(digits) * &unit, unit)
}

#[test]
fn every_root_lies_where_it_is_declared() {
    let mut found = Vec::new();
    for (name, shape) in shapes() {
        for (turn, cuts) in [(true, shape.turns), (false, shape.bends)] {
            let Cuts::Few(cuts) = cuts else { continue };
            let roots = cuts.iter().filter_map(|cut| if let Cut::Root(m) = cut { Some(*m) } else { None });
            found.extend(roots.map(|m| (name, turn, m)));
        }
    }
    assert_eq!(found.len(), PLACES.len());
    for ((name, turn, m), place) in found.into_iter().zip(PLACES) {
        assert_eq!((name, turn), (place.0, place.1));
        let (root, off) = scaled(place.2);
        let [below, above] = [m, m + 1].map(|end| Rational::from_integer(end.into()));
        assert!(below <= &root - &off && root + off <= above, "{name}: {} is not in [{m}, {m} + 1]·2^-120", place.2);
    }
}
