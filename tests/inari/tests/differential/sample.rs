//! Seeded intervals of doubles: points, thin and wide ones, huge and tiny ones, and around the places where functions turn or end.

use crate::shared::Random;
use inari::Interval;
use std::f64::consts::{E, LN_2, PI};

/// Where most of the numbers of an argument shall lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Anywhere,
    /// Above 0.
    Positive,
    /// Between −1 and 1.
    Unit,
    /// From 1 on.
    Large,
}

/// Arguments of one operation.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) place: Place,
    /// Magnitudes stay below two to this power.
    pub(crate) top: i32,
}

const BREAKPOINTS: &[f64] =
    &[0.0, 0.5, 1.0, 2.0, 10.0, E, LN_2, PI / 4.0, PI / 2.0, PI, 1.5 * PI, 2.0 * PI, 100.0 * PI];

/// A number from 0 to 1.
fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
}

fn sign(random: &mut Random) -> f64 {
    if random.below(2) == 0 { 1.0 } else { -1.0 }
}

/// `x` moved by this many doubles.
fn moved(x: f64, steps: i64) -> f64 {
    let step = |x: f64| if steps > 0 { x.next_up() } else { x.next_down() };
    (0..steps.abs()).fold(x, |x, _| step(x))
}

fn number(random: &mut Random, arguments: Arguments) -> f64 {
    let Arguments { place, top } = arguments;
    let exponents = |random: &mut Random, low: i32, high: i32| {
        let exponent = low + random.below((high - low) as usize) as i32;
        // Two steps, since the least of these powers alone is no double.
        (1.0 + unit(random)) * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
    };
    let size = match random.below(8) {
        0 | 1 => moved(BREAKPOINTS[random.below(BREAKPOINTS.len())], random.below(7) as i64 - 3),
        2 => unit(random) * 16.0,
        3 => unit(random),
        4 => exponents(random, -1074, top),
        5 => exponents(random, -40, top.min(40)),
        6 => random.below(160) as f64 / 8.0,
        _ => random.below(1000) as f64 / 10.0,
    };
    let x = size * sign(random);
    let most = 2_f64.powi(top - 1);
    let x = x.clamp(-most, most);
    // A few are left where they are, for the domain to be refused.
    match place {
        _ if random.below(16) == 0 => x,
        Place::Positive if x < 0.0 => -x,
        Place::Unit if x.abs() > 1.0 => 1.0 / x,
        Place::Large if x.abs() < 1.0 && x != 0.0 => (1.0 / x.abs()).min(most),
        Place::Large => x.abs(),
        _ => x,
    }
}

pub(crate) fn interval(random: &mut Random, arguments: Arguments) -> Interval {
    let x = number(random, arguments);
    let (lower, upper) = match random.below(4) {
        0 => (x, x),
        1 => (x, moved(x, 1 + random.below(5) as i64)),
        2 => (x, x + x.abs() * 2_f64.powi(-(random.below(50) as i32))),
        _ => {
            let y = number(random, arguments);
            (x.min(y), x.max(y))
        }
    };
    let upper = upper.min(f64::MAX);
    Interval::try_from((lower, upper)).unwrap()
}
