//! Target `func`: enclosures of a function agree across precisions and with the standard library; between turns it is monotone, on a piece it
//! bends as declared, and secants lie within the derivative.

use crate::source::{Choices, extended};
use crate::tally::count;
use certkern_core::func::{Curvature, Elementary, Refusal, names};
use certkern_core::interval::Interval;
use certkern_core::num::{Ball, Dyadic, Rational};
use num_traits::ToPrimitive;

const TARGET: &str = "func";

/// One function, on an interval and at points of it.
pub(crate) fn body(data: &[u8]) {
    let bytes = extended(data);
    let mut u = Choices::new(&bytes);
    let all: Vec<&'static str> = names().collect();
    let name = u.pick(&all);
    let Some(function) = Elementary::new(name, parameters(&mut u, name)) else {
        panic!("{name} does not take its parameters");
    };
    let mut points: Vec<Dyadic> = (0..3).map(|_| point(&mut u)).collect();
    points.sort();
    let z = Interval { lower: points[0].clone(), upper: points[2].clone() };
    if !function.is_defined_on(&z) {
        count(TARGET, "not defined");
        assert!(matches!(function.image(&z, 64), Err(Refusal::Undefined)), "{name}: an image where it is not defined");
        return;
    }
    let bits = 32 + u.below(96) as u64;
    let found = points.iter().map(|x| nested(&mut u, &function, x, bits)).collect::<Option<Vec<_>>>();
    let (Some(values), Ok(image)) = (found, function.image(&z, bits)) else {
        count(TARGET, "beyond the budget");
        return;
    };
    if !values.iter().all(short) {
        count(TARGET, "too large or too small to be compared");
        return;
    }
    for value in &values {
        assert!(
            image.lower <= value.upper() && value.lower() <= image.upper,
            "{name}: a value outside the image on {z:?}"
        );
    }
    shape(&function, &z, &points, &values, bits);
    count(TARGET, name);
}

fn parameters(u: &mut Choices<'_>, name: &str) -> Vec<Rational> {
    let positive = |u: &mut Choices<'_>| Rational::new(u.between(1, 20).into(), u.pick(&[1, 3, 8]).into());
    match name {
        "leaky_relu" | "prelu" | "elu" => vec![u.ratio()],
        "celu" => vec![positive(u)],
        "clip" => {
            let low = u.ratio();
            vec![low.clone(), low + u.room()]
        }
        "hard_sigmoid" => vec![positive(u), u.ratio()],
        "selu" => vec![u.ratio(), positive(u)],
        "power" => vec![Rational::new(u.between(-6, 7).into(), u.pick(&[1, 1, 2, 3]).into())],
        _ => vec![],
    }
}

/// A point: a short one, a full mantissa, far out, or next to zero.
fn point(u: &mut Choices<'_>) -> Dyadic {
    match u.below(6) {
        0 => Dyadic::new(u.between(-16, 16), -2),
        1 => Dyadic::new(u.between(-1 << 20, 1 << 20), u.between(-60, -10)),
        2 => Dyadic::new(u.bits() as i64, u.between(-80, -40)),
        _ => Dyadic::new(u.bits() as i64 >> 8, -52),
    }
}

/// Whether the ends make rationals of a reasonable length.
fn short(ball: &Ball) -> bool {
    [ball.lower(), ball.upper()].iter().all(|end| end.exponent().abs() < 4096 && end.mantissa().bits() < 4096)
}

fn apart(a: &Ball, b: &Ball) -> bool {
    a.upper() < b.lower() || b.upper() < a.lower()
}

/// The value to many bits. Every enclosure of it meets every other, is as narrow as promised, and holds what the standard library says.
fn nested(u: &mut Choices<'_>, function: &Elementary, x: &Dyadic, bits: u64) -> Option<Ball> {
    let name = function.name();
    let rough = function.at(x, bits).ok()?;
    let fine = function.at(x, 2 * bits + u.below(100) as u64).ok()?;
    assert!(!apart(&rough, &fine), "{name}({x:?}): {rough:?} and {fine:?}");
    let wide = Ball::exact(fine.midpoint().clone())
        .plus(&Ball::new(Dyadic::zero(), Dyadic::new(2, 0) * rough.radius().clone())?);
    assert!(fine.radius().is_zero() || fine.radius() <= rough.radius() || !apart(&wide, &fine));
    if !short(&fine) {
        return Some(fine);
    }
    if let (Some(x), Some(low), Some(high)) = (float(x), float(&fine.lower()), float(&fine.upper()))
        && let Some(value) = library(name, function.parameters(), x)
    {
        let slack = 1e-9 * (1.0 + value.abs());
        assert!(low <= value + slack && high >= value - slack, "{name}({x}) = {value}, not in [{low}, {high}]");
        count(TARGET, "compared with the standard library");
    }
    Some(fine)
}

fn float(x: &Dyadic) -> Option<f64> {
    x.to_rational().to_f64().filter(|value| value.is_finite())
}

/// Monotone between turns, bent as declared on a piece, with secants within the derivative.
fn shape(function: &Elementary, z: &Interval, points: &[Dyadic], values: &[Ball], bits: u64) {
    let (name, [a, b, c]) = (function.name(), values) else { return };
    if function.turns(z, bits).is_ok_and(|turns| turns.is_empty()) {
        let peak = b.lower() > a.upper() && b.lower() > c.upper();
        let dip = b.upper() < a.lower() && b.upper() < c.lower();
        assert!(!peak && !dip, "{name} turns within {z:?}");
    }
    let Ok(pieces) = function.pieces(z, bits) else { return };
    let inside = |piece: &&certkern_core::func::Piece| {
        let after = piece.start.as_ref().is_none_or(|start| start.upper() <= z.lower);
        after && piece.end.as_ref().is_none_or(|end| z.upper <= end.lower())
    };
    let Some((place, piece)) = pieces.iter().enumerate().find(|(_, piece)| inside(piece)) else { return };
    let [first, middle, last] = points else { return };
    let run = last - first;
    if first < middle && middle < last {
        // b above the chord from a to c: (b − a)·run > (c − a)·part, and likewise below it.
        let part = middle - first;
        let above = (&b.lower() - &a.upper()) * run.clone() > (&c.upper() - &a.upper()) * part.clone();
        let below = (&b.upper() - &a.lower()) * run.clone() < (&c.lower() - &a.lower()) * part;
        assert!(!(above && piece.curvature != Curvature::Concave), "{name} bends up on {z:?}: {piece:?}");
        assert!(!(below && piece.curvature != Curvature::Convex), "{name} bends down on {z:?}: {piece:?}");
        count(TARGET, "bent as declared");
    }
    if first < last
        && let Ok(slope) = function.derivative(z, place, piece, bits)
    {
        let (low, high) = (&c.lower() - &a.upper(), &c.upper() - &a.lower());
        let within = &slope.lower * &run <= high && low <= &slope.upper * &run;
        assert!(within, "{name}: a secant outside {slope:?} on {z:?}");
        count(TARGET, "secants within the derivative");
    }
}

/// What binary64 gives, where it is good to nine digits.
fn library(name: &str, parameters: &[Rational], x: f64) -> Option<f64> {
    let parameter = |place: usize| parameters.get(place).and_then(ToPrimitive::to_f64).unwrap_or(f64::NAN);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let softplus = |x: f64| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() };
    let elu = |x: f64, alpha: f64| if x < 0.0 { alpha * x.exp_m1() } else { x };
    let value = match name {
        // Beyond this the argument's rounding counts, or functions overflow.
        _ if x.abs() > 30.0 => return None,
        "acos" if x.abs() < 0.9999 => x.acos(),
        "asin" if x.abs() < 0.9999 => x.asin(),
        "atanh" if x.abs() < 0.9999 => x.atanh(),
        "acosh" if x > 1.0001 => x.acosh(),
        "asinh" => x.asinh(),
        "atan" => x.atan(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" if x.cos().abs() > 1e-3 => x.tan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "exp" => x.exp(),
        "expm1" => x.exp_m1(),
        "log" if x > 1e-6 => x.ln(),
        "log2" if x > 1e-6 => x.log2(),
        "log1p" if x > -0.999 => x.ln_1p(),
        "sqrt" if x > 1e-6 => x.sqrt(),
        "rsqrt" if x > 1e-3 => 1.0 / x.sqrt(),
        "inv" if x.abs() > 1e-3 => 1.0 / x,
        "sigmoid" => sigmoid(x),
        "silu" => x * sigmoid(x),
        "softplus" => softplus(x),
        "softsign" => x / (1.0 + x.abs()),
        "mish" => x * softplus(x).tanh(),
        "leaky_relu" | "prelu" => {
            if x < 0.0 {
                parameter(0) * x
            } else {
                x
            }
        }
        "elu" => elu(x, parameter(0)),
        "celu" => {
            if x < 0.0 {
                parameter(0) * (x / parameter(0)).exp_m1()
            } else {
                x
            }
        }
        "selu" => parameter(1) * elu(x, parameter(0)),
        "clip" => x.max(parameter(0)).min(parameter(1)),
        "hard_sigmoid" => (parameter(0) * x + parameter(1)).clamp(0.0, 1.0),
        "hard_swish" => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        "gelu_tanh" => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }
        "power" if x > 1e-2 => x.powf(parameter(0)),
        _ => return None,
    };
    (value.is_finite() && value.abs() < 1e9).then_some(value)
}
