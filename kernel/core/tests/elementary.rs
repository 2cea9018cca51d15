//! The library of functions: laws over the whole of it, special arguments, and hard cases from elsewhere.

#![allow(clippy::disallowed_methods, reason = "tests read files; the kernel does not")]

mod support;

#[path = "../../wire/tests/shared/mod.rs"]
mod shared;

use certkern_core::func::{Constant, Curvature, Elementary, Piece, Refusal, names};
use certkern_core::interval::Interval;
use certkern_core::num::{Ball, Dyadic};
use support::{Random, d, q};

/// Every function of the library, with each of some parameters, and an interval of its domain in eighths that shows all of its pieces.
fn cases() -> Vec<(Elementary, i64, i64)> {
    let mut cases = Vec::new();
    for name in names() {
        let (low, high) = match name {
            "sqrt" | "rsqrt" | "log" | "log2" | "inv" => (1, 80),
            "log1p" => (-7, 80),
            "asin" | "acos" | "atanh" => (-7, 7),
            "acosh" => (9, 80),
            "tan" => (-12, 12),
            _ => (-64, 64),
        };
        let parameters = match name {
            "power" => {
                let exponents = [q(0, 1), q(1, 1), q(2, 1), q(5, 1), q(-1, 1), q(-4, 1), q(1, 3), q(7, 4), q(-5, 2)];
                cases.extend(exponents.map(|r| {
                    let low = if r.is_integer() && r >= q(0, 1) { -24 } else { 1 };
                    (Elementary::new(name, vec![r]).unwrap(), low, 24)
                }));
                continue;
            }
            "elu" => vec![vec![q(1, 1)], vec![q(-2, 3)], vec![q(0, 1)]],
            "celu" | "leaky_relu" | "prelu" => vec![vec![q(1, 3)], vec![q(5, 2)]],
            "selu" => vec![vec![q(1673, 1000), q(21, 20)]],
            "clip" => vec![vec![q(-1, 3), q(6, 1)]],
            "hard_sigmoid" => vec![vec![q(1, 6), q(1, 2)], vec![q(1, 3), q(1, 10)]],
            _ => vec![vec![]],
        };
        cases.extend(parameters.into_iter().map(|p| (Elementary::new(name, p).unwrap(), low, high)));
    }
    assert!(cases.len() >= 51);
    cases
}

fn interval(lower: Dyadic, upper: Dyadic) -> Interval {
    Interval { lower, upper }
}

/// Whether a ball is as narrow as promised: `4 · 2^-bits` of its midpoint from end to end.
fn is_narrow(ball: &Ball, bits: i64) -> bool {
    let size = if ball.midpoint().is_negative() { -ball.midpoint() } else { ball.midpoint().clone() };
    ball.radius() <= &(&size * &d(1, 1 - bits))
}

fn inside(inner: &Interval, outer: &Interval, slack: &Dyadic) -> bool {
    &inner.lower + slack >= outer.lower && &inner.upper - slack <= outer.upper
}

#[test]
fn images_contain_values_and_grow_with_the_argument() {
    let mut random = Random::new(1);
    for (function, low, high) in cases() {
        for bits in [53, 160] {
            for _ in 0..12 {
                // Four points in order, on a grid fine enough to fall anywhere.
                let mut places: Vec<Dyadic> = (0..4).map(|_| d(random.between(low << 20, high << 20), -23)).collect();
                places.sort();
                let [a, b, c, e] = <[Dyadic; 4]>::try_from(places).unwrap();
                let image = |a, b| {
                    function.image(&interval(a, b), bits).unwrap_or_else(|r| panic!("{}: {r:?}", function.name()))
                };
                let outer = image(a, e);
                let inner = image(b.clone(), c.clone());
                let slack = d(1, 8 - bits as i64);
                let name = function.name();
                assert!(inside(&inner, &outer, &slack), "{name}: {inner:?} {outer:?}");
                for step in 0..=8 {
                    let x = &b + &(&(&c - &b) * &d(step, -3));
                    let value = function.at(&x, bits).unwrap();
                    assert!(is_narrow(&value, bits as i64), "{name} at {x:?}: {value:?}");
                    let value = interval(value.lower(), value.upper());
                    assert!(inside(&value, &inner, &slack), "{name} at {x:?}: {value:?} {inner:?}");
                }
            }
        }
    }
}

/// `f(x − h) + f(x + h) − 2f(x)` has the sign of the curvature wherever all three lie in a piece, near its ends too, and mostly it is seen.
#[test]
fn no_piece_hides_a_change_of_curvature() {
    const BITS: u64 = 500;
    for (function, low, high) in cases() {
        let z = interval(d(low, -3), d(high, -3));
        let name = function.name();
        for piece in function.pieces(&z, BITS).unwrap() {
            let start = piece.start.as_ref().map_or(z.lower.clone(), |b| b.upper().max(z.lower.clone()));
            let end = piece.end.as_ref().map_or(z.upper.clone(), |b| b.lower().min(z.upper.clone()));
            if start >= end {
                continue;
            }
            let width = &end - &start;
            let mut middles: Vec<(Dyadic, Dyadic)> =
                (1..64).map(|k| (&start + &(&width * &d(k, -6)), &width * &d(1, -6))).collect();
            for k in [20, 60, 100] {
                let h = &width * &d(1, -k);
                middles.push((&start + &h, h.clone()));
                middles.push((&end - &h, h));
            }
            let mut seen = 0;
            for (x, h) in &middles {
                let at = |x: Dyadic| function.at(&x, BITS).unwrap();
                let bend = at(x - h).plus(&at(x + h)).plus(&at(x.clone()).times(&d(-2, 0)));
                let (falls, rises) = (bend.upper().is_negative(), bend.lower().is_positive());
                match piece.curvature {
                    Curvature::Linear => assert!(!falls && !rises, "{name} at {x:?}"),
                    Curvature::Convex => assert!(!falls, "{name} at {x:?}"),
                    Curvature::Concave => assert!(!rises, "{name} at {x:?}"),
                }
                seen += usize::from(falls || rises);
            }
            let flat = piece.curvature == Curvature::Linear || name == "elu" && function.parameters()[0] == q(0, 1);
            assert!(flat || seen >= middles.len() - 2, "{name}: {seen} of {}", middles.len());
        }
    }
}

/// The slope of a short chord lies between the derivatives at its ends, as the derivative is monotone on a piece; and between turns no chord
/// changes its direction.
#[test]
fn slopes_and_turns_are_those_of_the_values() {
    const BITS: u64 = 200;
    for (function, low, high) in cases() {
        let z = interval(d(low, -3), d(high, -3));
        let (name, h) = (function.name(), d(1, -60));
        let pieces = function.pieces(&z, BITS).unwrap();
        let turns = function.turns(&z, BITS).unwrap();
        for k in 1..100 {
            let x = &z.lower + &(&(&z.upper - &z.lower) * &(d(k, -7) * d(5, -2)));
            let y = &x + &h;
            if y > z.upper {
                break;
            }
            let chord = function.at(&y, BITS).unwrap().plus(&function.at(&x, BITS).unwrap().negated()).times(&d(1, 60));
            for (place, piece) in pieces.iter().enumerate() {
                let within = piece.start.as_ref().is_none_or(|b| b.upper() <= x)
                    && piece.end.as_ref().is_none_or(|b| b.lower() >= y);
                if within {
                    let slope = function.derivative(&interval(x.clone(), y.clone()), place, piece, BITS).unwrap();
                    assert!(chord.upper() >= slope.lower && chord.lower() <= slope.upper, "{name} at {x:?}");
                    let width = &slope.upper - &slope.lower;
                    assert!(width <= d(1, -30), "{name} at {x:?}: {width:?}");
                }
            }
        }
        let mut ends: Vec<Dyadic> = vec![z.lower.clone()];
        if !matches!(name, "sin" | "cos") {
            ends.extend(turns.iter().flat_map(|turn| [turn.lower(), turn.upper()]));
            ends.push(z.upper.clone());
        } else {
            ends.push(turns[0].lower());
        }
        for part in ends.chunks(2) {
            let [from, to] = part else { panic!("an odd number of ends") };
            let mut directions = (false, false);
            for k in 0..64 {
                let at = |k: i64| function.at(&(from + &(&(to - from) * &d(k, -6))), BITS).unwrap();
                let rise = at(k + 1).plus(&at(k).negated());
                directions.0 |= rise.upper().is_negative();
                directions.1 |= rise.lower().is_positive();
            }
            assert!(!(directions.0 && directions.1), "{name} between {from:?} and {to:?}");
        }
    }
}

/// Decimal digits from the literature (OEIS A000796, A001113, A002162, A001620).
#[test]
fn constants_have_the_digits_that_everyone_knows() {
    for (constant, digits) in [
        (
            Constant::Pi,
            "31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679",
        ),
        (
            Constant::E,
            "27182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664274",
        ),
        (
            Constant::Ln2,
            "6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633269964186875",
        ),
        (
            Constant::Gamma,
            "5772156649015328606065120900824024310421593359399235988057672348848677267776646709369470632917467495",
        ),
    ] {
        let places = u32::try_from(digits.len()).unwrap() - u32::from(matches!(constant, Constant::Pi | Constant::E));
        let unit = q(1, 10).pow(i32::try_from(places).unwrap());
        let low = certkern_core::num::Rational::from_integer(digits.parse().unwrap()) * &unit;
        for bits in [10, 53, 300] {
            let ball = constant.enclosure(bits).unwrap();
            assert!(is_narrow(&ball, bits as i64));
            let (lower, upper) = (ball.lower().to_rational(), ball.upper().to_rational());
            assert!(lower <= &low + &unit && upper >= low, "{constant:?} {bits}");
        }
    }
}

/// Arguments where formulas break: very large, very small, next to zeros, poles, ends and breakpoints.
#[test]
fn special_arguments_have_narrow_enclosures() {
    let (huge, tiny) = (d(1, 1000), d(1, -1000));
    let one = d(1, 0);
    // The nearest doubles to π/2 and π (their hexadecimal digits are well known).
    let (half_pi, pi) = (d(0x0019_21fb_5444_2d18, -52), d(0x0019_21fb_5444_2d18, -51));
    let everywhere = |name: &str, points: &[Dyadic]| {
        let function = Elementary::new(name, vec![]).unwrap();
        for x in points {
            for bits in [53, 200] {
                let value = function.at(x, bits).unwrap();
                assert!(is_narrow(&value, bits as i64), "{name} at {x:?}: {value:?}");
            }
        }
    };
    let both = |x: &Dyadic| [x.clone(), -x];
    let odd: Vec<Dyadic> = both(&tiny).into_iter().chain(both(&one)).chain([Dyadic::zero()]).collect();
    for name in
        ["sin", "tan", "atan", "sinh", "tanh", "asinh", "expm1", "erf", "gelu", "gelu_tanh", "silu", "mish", "softsign"]
    {
        everywhere(name, &odd);
    }
    for name in ["atan", "asinh", "tanh", "softsign", "hard_swish", "erf", "sigmoid"] {
        everywhere(name, std::slice::from_ref(&huge));
    }
    for name in ["sin", "cos", "tan"] {
        everywhere(name, &[huge.clone(), -&huge, half_pi.clone(), pi.clone(), &pi + &tiny, d(12345, 990)]);
    }
    for name in ["sqrt", "rsqrt", "inv", "log", "log2"] {
        everywhere(name, &[huge.clone(), tiny.clone(), &one + &tiny, &one - &tiny, one.clone()]);
    }
    everywhere("log1p", &[huge.clone(), tiny.clone(), -&tiny, &tiny - &one]);
    everywhere("acosh", &[huge.clone(), &one + &tiny, one.clone()]);
    for name in ["asin", "acos", "atanh"] {
        everywhere(name, &[tiny.clone(), &one - &tiny, &tiny - &one]);
    }
    everywhere("asin", &both(&one));
    everywhere("acos", &both(&one));
    everywhere("erfc", &[d(-5, 0), d(7, 0), d(60, 0), d(100, 10), tiny.clone()]);
    everywhere("gelu", &[d(-5, 0), d(-60, 0), d(-100, 10), d(100, 10)]);
    everywhere("softplus", &[d(-100, 10), d(-1, 10), tiny.clone(), huge.clone()]);
    everywhere("sigmoid", &[d(-100, 10), d(100, 10), tiny]);
    everywhere("hard_swish", &[d(-3, 0), d(3, 0), d(-3, -1)]);
}

#[test]
fn what_is_undefined_or_out_of_reach_is_refused() {
    let at = |name: &str, x: Dyadic| Elementary::new(name, vec![]).unwrap().at(&x, 53);
    for name in ["log", "log2", "rsqrt", "inv"] {
        assert_eq!(at(name, Dyadic::zero()), Err(Refusal::Undefined), "{name}");
    }
    for name in ["log", "log2", "rsqrt", "sqrt", "acosh"] {
        assert_eq!(at(name, d(-1, -900)), Err(Refusal::Undefined), "{name}");
    }
    for (name, x) in [("log1p", d(-1, 0)), ("atanh", d(1, 0)), ("asin", &d(1, 0) + &d(1, -99)), ("acosh", d(1, -1))] {
        assert_eq!(at(name, x), Err(Refusal::Undefined), "{name}");
    }
    // exp(2^1000) has no exponent here; neither has a sine of 2^(2^40) digits enough.
    for name in ["exp", "sinh", "cosh", "expm1"] {
        assert_eq!(at(name, d(1, 1000)), Err(Refusal::Limit), "{name}");
    }
    assert_eq!(at("sin", d(1, 1 << 40)), Err(Refusal::Limit));
    // Nor are quarters of a turn counted beyond 2^65536.
    for name in ["sin", "cos"] {
        let z = |exponent| interval(d(1, exponent), &d(1, exponent) + &d(1, 0));
        let pieces = |exponent| Elementary::new(name, vec![]).unwrap().pieces(&z(exponent), 53).map(|_| ());
        assert_eq!((pieces(1 << 10), pieces(70_000)), (Ok(()), Err(Refusal::Limit)), "{name}");
    }
    assert_eq!(at("exp", d(1, 1 << 62)), Err(Refusal::Limit));
    assert_eq!(at("exp", d(1, -(1 << 62))), Err(Refusal::Limit));
    assert!(Elementary::new("exp", vec![]).unwrap().at(&d(1, 0), 1 << 40).is_err());
    let image =
        |name: &str, low: Dyadic, high: Dyadic| Elementary::new(name, vec![]).unwrap().image(&interval(low, high), 53);
    assert_eq!(image("inv", d(-1, 0), d(1, 0)), Err(Refusal::Undefined));
    assert_eq!(image("tan", d(1, 0), d(2, 0)), Err(Refusal::Undefined));
    assert!(image("tan", d(2, 0), d(4, 0)).is_ok());
    // The derivative of sqrt at 0, of asin at 1.
    let sqrt = Elementary::new("sqrt", vec![]).unwrap();
    let z = interval(Dyadic::zero(), d(1, 0));
    assert_eq!(sqrt.derivative(&z, 0, &sqrt.pieces(&z, 53).unwrap()[0], 53), Err(Refusal::Undefined));
    assert!(sqrt.image(&z, 53).is_ok());
    for (name, parameters) in [
        ("nothing", vec![]),
        ("elu", vec![]),
        ("clip", vec![q(1, 1), q(0, 1)]),
        ("celu", vec![q(0, 1)]),
        ("selu", vec![q(1, 1)]),
    ] {
        assert!(Elementary::new(name, parameters).is_none(), "{name}");
    }
}

/// Images where the function turns inside: the extreme values are known.
#[test]
fn images_reach_to_the_turns() {
    let image = |name: &str, low: i64, high: i64| {
        Elementary::new(name, vec![]).unwrap().image(&interval(d(low, 0), d(high, 0)), 60).unwrap()
    };
    let near = |a: &Dyadic, b: &Dyadic| a - b <= d(1, -55) && b - a <= d(1, -55);
    let sin = image("sin", 1, 20);
    assert!(near(&sin.upper, &d(1, 0)) && near(&sin.lower, &d(-1, 0)) && sin.upper >= d(1, 0) && sin.lower <= d(-1, 0));
    assert!(near(&image("cosh", -1, 2).lower, &d(1, 0)));
    assert!(near(&image("hard_swish", -3, 0).lower, &d(-3, -3)));
    // −W(1/e): silu is least where 1 + x + exp(x) = 0, and there it is x + 1.
    let silu = image("silu", -2, 0).lower;
    let x = d(-0x0147_4973_c841_20b7, -56);
    assert!(near(&silu, &(&x + &d(1, 0))));
}

/// Bits of a double from the hexadecimal text of C.
fn hexadecimal(text: &str) -> Dyadic {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = i64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let exponent = exponent.parse::<i64>().unwrap() - 4 * fraction.len() as i64;
    d(if negative { -mantissa } else { mantissa }, exponent)
}

/// The hard cases of CORE-MATH: the ball separates the two neighbouring doubles between which the value lies.
#[test]
fn hard_cases_are_separated() {
    let Some(folder) = shared::folder("elemfun/core_math") else { return };
    let mut rows = 0;
    for path in shared::files(&folder, "csv") {
        let name = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
        let function = Elementary::new(&name, vec![]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.starts_with("0x") || line.starts_with("-0x")) {
            let [x, down, up] = <[Dyadic; 3]>::try_from(line.split(',').map(hexadecimal).collect::<Vec<_>>()).unwrap();
            let wide = function.at(&x, 53).unwrap();
            assert!(is_narrow(&wide, 53) && wide.lower() <= up && wide.upper() >= down, "{name} {line}");
            // atan(2^-781) leaves 2^-781 after 1562 bits only.
            let separates = |value: &Ball| value.lower() >= down && value.upper() < up;
            let separated = [160, 640, 2600].into_iter().any(|bits| {
                let value = function.at(&x, bits).unwrap();
                assert!(is_narrow(&value, bits as i64), "{name} {line}: {value:?}");
                assert!(value.upper() >= wide.lower() && value.lower() <= wide.upper(), "{name} {line}");
                separates(&value)
            });
            assert!(separated, "{name} {line}");
            rows += 1;
        }
    }
    assert!(rows >= 12_800, "{rows}");
}

/// A float as the directed tests of Arm write it: words of bits in hexadecimal, then more digits of the exact result. The number, the unit of
/// its last digit, and whether it is finite.
fn words(text: &str, single: bool) -> Option<(Dyadic, Dyadic)> {
    let mut parts = text.split('.');
    let mut word = || parts.next().map(|part| u64::from_str_radix(part, 16).unwrap());
    let bits = if single { word()? } else { (word()? << 32) | word()? };
    let more = parts.next().unwrap_or("");
    let number = |bits: u64| {
        if single { Dyadic::from_f32_bits(u32::try_from(bits).unwrap()) } else { Dyadic::from_f64_bits(bits) }
    };
    let value = number(bits)?;
    // Signs aside, the next number up in magnitude is the next in bits.
    let next = number(bits + 1).unwrap_or_else(|| &value + &(&value * &d(1, if single { -24 } else { -53 })));
    let unit = &(&next - &value) * &d(1, -4 * more.len() as i64);
    let extra = if more.is_empty() { 0 } else { i64::from_str_radix(more, 16).unwrap() };
    let value = &value + &(&unit * &d(extra, 0));
    Some((value, if unit.is_negative() { -unit } else { unit }))
}

/// The directed tests of Arm's optimized routines: results to twelve bits beyond a double.
#[test]
fn directed_cases_are_met() {
    let Some(folder) = shared::folder("elemfun/arm_directed") else { return };
    let (mut rows, mut beyond) = (0, 0);
    for path in shared::files(&folder, "tst") {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.starts_with("func=")) {
            let field = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            let name = field("func").unwrap();
            let single = name.ends_with('f') && name != "erf";
            let name = if single { &name[..name.len() - 1] } else { name };
            // Infinite arguments and NaN are no real numbers.
            let Some((x, _)) = words(field("op1").unwrap(), single) else { continue };
            let value = if name == "exp2" {
                let ln2 = Constant::Ln2.enclosure(1300).unwrap();
                Elementary::new("exp", vec![]).unwrap().value(&ln2.times(&x), 100)
            } else {
                Elementary::new(name, vec![]).unwrap().at(&x, 100)
            };
            let Some((result, unit)) = words(field("result").unwrap(), single) else {
                // A pole, an argument outside the domain, or a value beyond the largest float.
                let largest = d(1, if single { 128 } else { 1024 });
                let large = |ball: &Ball| ball.lower() >= largest || ball.upper() <= -&largest;
                let close =
                    |ball: &Ball| ball.upper() >= &largest - &(&largest * &d(1, if single { -25 } else { -54 }));
                assert!(value.as_ref().map_or(true, |ball| large(ball) || close(ball)), "{line}: {value:?}");
                beyond += 1;
                continue;
            };
            let value = value.unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"));
            assert!(
                value.lower() >= &result - &unit && value.upper() <= &result + &unit,
                "{line}: {value:?} {result:?}"
            );
            rows += 1;
        }
    }
    assert!(rows >= 150 && beyond >= 15, "{rows} {beyond}");
}

/// Around the places where the sums of the normal distribution take turns, for all their relatives: a series used too early would not end.
#[test]
fn the_bell_has_no_seam() {
    for name in ["erf", "erfc", "gelu"] {
        let function = Elementary::new(name, vec![]).unwrap();
        for k in 1..2000 {
            // Long arguments, so that the square is rounded.
            let x = &d(k, -6) + &(&d(1, -200) * &d(k, 0));
            for x in [-&x, x] {
                let [a, b] = [20, 53].map(|bits| function.at(&x, bits).unwrap());
                assert!(is_narrow(&a, 20) && is_narrow(&b, 53), "{name} at {x:?}");
                assert!(a.upper() >= b.lower() && b.upper() >= a.lower(), "{name} at {x:?}");
            }
        }
    }
}

/// Where the derivative of a function changes its sign between `low` and `high`, within `2⁻³⁰⁰`; `None` if it does not, or is not known.
fn turn(function: &Elementary, mut low: Dyadic, mut high: Dyadic) -> Option<Dyadic> {
    let rises = |x: &Dyadic| {
        let z = interval(x.clone(), x.clone());
        let pieces = function.pieces(&z, 700).ok()?;
        let around = |piece: &Piece| {
            piece.start.as_ref().is_none_or(|start| start.upper() <= *x)
                && piece.end.as_ref().is_none_or(|end| *x <= end.lower())
        };
        let place = pieces.iter().position(around)?;
        let slope = function.derivative(&z, place, &pieces[place], 700).ok()?;
        (slope.lower.is_positive() || slope.upper.is_negative()).then(|| slope.lower.is_positive())
    };
    let first = rises(&low)?;
    if rises(&high)? == first {
        return None;
    }
    for _ in 0..300 {
        let middle = &(&low + &high) * &d(1, -1);
        match rises(&middle) {
            Some(rising) if rising == first => low = middle,
            Some(_) => high = middle,
            None => return Some(middle),
        }
    }
    Some(low)
}

/// Images of tiny intervals around every place where a function turns contain the value there, which is an extreme one and which the values at the ends say nothing of.
#[test]
fn images_of_tiny_intervals_contain_extreme_values() {
    let mut turns = Vec::new();
    for function in names().filter_map(|name| Elementary::new(name, vec![])) {
        for place in -40..40 {
            let Some(near) = turn(&function, d(place, -2), d(place + 1, -2)) else { continue };
            turns.push(function.name());
            let extreme = function.at(&near, 700).unwrap();
            let contains = |low: Dyadic, high: Dyadic, what: String| {
                let image = function.image(&interval(low, high), 700).unwrap();
                assert!(image.lower <= extreme.upper() && extreme.lower() <= image.upper, "{function:?} {what}");
            };
            let step = near.floor_at(-120);
            for (below, above) in [(0, 1), (-1, 1), (0, 2), (-5, 7)] {
                let end = |units: i32| Dyadic::new(&step + units, -120);
                contains(end(below), end(above), format!("[{below}, {above}]·2^-120 around"));
            }
            for exponent in [-100, -122, -124, -140, -180] {
                for (low, high) in [(-1, 40), (-40, 1), (-3, 2)] {
                    let end = |units: i64| &near + &Dyadic::new(units, exponent);
                    contains(end(low), end(high), format!("{low}·2^{exponent}"));
                }
            }
        }
    }
    // On [−10, 10] cos turns at six places beside 0, which is one of the ends above, and sin at six.
    let count = |name: &str| turns.iter().filter(|turned| **turned == name).count();
    for (name, expected) in [("cos", 6), ("sin", 6), ("gelu", 1), ("gelu_tanh", 1), ("mish", 1), ("silu", 1)] {
        assert_eq!(count(name), expected, "{name}");
    }
}
