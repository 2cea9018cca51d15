//! Enclosures of the kernel against inari, over seeded intervals.
//!
//! inari rounds each end outward once, and the kernel has exact ends, or 160 bits of them: inari's interval must hold the kernel's, and the kernel's
//! must reach into the last step of inari's at both ends. Where inari says that an operation is not defined on all of its arguments, the kernel must
//! refuse it.

#[path = "../../../../kernel/core/tests/itf1788/hull.rs"]
mod hull;
#[path = "../../../../kernel/core/tests/itf1788/operation.rs"]
mod operation;
mod sample;
#[path = "../../../../kernel/wire/tests/shared/mod.rs"]
mod shared;

use hull::{Hull, enclosed, image, linear, undefined};
use inari::{DecInterval, Decoration, Interval};
use operation::{Ends, expression, function, is_exact, is_parameter, rational};
use sample::{Arguments, Place, interval};
use shared::Random;

/// Intervals for each operation.
const SAMPLES: usize = 10_000;

fn ends(x: Interval) -> Ends {
    Ends::new(x.inf(), x.sup())
}

/// What inari makes of these arguments; `n` is the exponent of `pown`.
fn second_opinion(operation: &str, x: &[DecInterval], n: i32) -> DecInterval {
    match (operation, x) {
        ("neg", [x]) => -*x,
        ("add", [x, y]) => *x + *y,
        ("sub", [x, y]) => *x - *y,
        ("mul", [x, y]) => *x * *y,
        ("div", [x, y]) => *x / *y,
        ("fma", [x, y, z]) => x.mul_add(*y, *z),
        ("recip", [x]) => x.recip(),
        ("sqr", [x]) => x.sqr(),
        ("abs", [x]) => x.abs(),
        ("pown", [x]) => x.powi(n),
        ("pow", [x, y]) => x.pow(*y),
        ("atan2", [y, x]) => y.atan2(*x),
        ("sqrt", [x]) => x.sqrt(),
        ("exp", [x]) => x.exp(),
        ("exp2", [x]) => x.exp2(),
        ("exp10", [x]) => x.exp10(),
        ("log", [x]) => x.ln(),
        ("log2", [x]) => x.log2(),
        ("log10", [x]) => x.log10(),
        ("sin", [x]) => x.sin(),
        ("cos", [x]) => x.cos(),
        ("tan", [x]) => x.tan(),
        ("asin", [x]) => x.asin(),
        ("acos", [x]) => x.acos(),
        ("atan", [x]) => x.atan(),
        ("sinh", [x]) => x.sinh(),
        ("cosh", [x]) => x.cosh(),
        ("tanh", [x]) => x.tanh(),
        ("asinh", [x]) => x.asinh(),
        ("acosh", [x]) => x.acosh(),
        ("atanh", [x]) => x.atanh(),
        _ => panic!("{operation} of {} arguments", x.len()),
    }
}

/// Compares the two on these arguments: whether the operation is defined there, or `None` where the kernel does not have it.
fn compare(operation: &str, arguments: &[Interval], n: Option<i32>, rule: bool) -> Result<Option<bool>, String> {
    let decorated: Vec<DecInterval> = arguments.iter().map(|x| DecInterval::new(*x)).collect();
    let theirs = second_opinion(operation, &decorated, n.unwrap_or(0));
    let arguments: Vec<Ends> = arguments.iter().map(|x| ends(*x)).collect();
    let n = n.map(|n| rational(n.into()));
    let Some(expressions) = expression(operation, &arguments, n.as_ref()) else {
        return if operation == "atan2" { Ok(None) } else { Err("it is not known".to_owned()) };
    };
    if let ("pow", [x, y]) = (operation, arguments.as_slice()) {
        // Defined at 0 for exponents above it, and refused for most of them here.
        if x.has_zero() && !is_parameter(y) {
            return undefined(&expressions, None, x).map(|()| Some(false));
        }
    }
    let function = function(operation, n.as_ref());
    if theirs.decoration() <= Decoration::Trv {
        return undefined(&expressions, function.as_ref(), &arguments[0]).map(|()| Some(false));
    }
    let hull = theirs.interval().ok_or("not an interval")?;
    let hull = Hull { lower: hull.inf(), upper: hull.sup() };
    if let Some(function) = &function {
        image(function, &arguments[0], &hull)?;
    }
    if function.is_none() || rule {
        enclosed(&expressions, &hull, is_exact(operation))?;
    }
    linear(operation, &arguments, &hull)?;
    Ok(Some(true))
}

/// Compares the two on seeded arguments. At least a quarter of them must lie in the domain, and those outside must have been met if there are any.
fn differ(operation: &str, arguments: &[Arguments], exponents: &[i32], is_total: bool) {
    let mut random = Random(0x1788_2015 + operation.bytes().map(u64::from).sum::<u64>());
    let (mut defined, mut refused, mut failures) = (0, 0, Vec::new());
    for round in 0..SAMPLES {
        let x: Vec<Interval> = arguments.iter().map(|arguments| interval(&mut random, *arguments)).collect();
        let n = (!exponents.is_empty()).then(|| exponents[random.below(exponents.len())]);
        // The rule takes longer than the function that it asks.
        match compare(operation, &x, n, round % 8 == 0) {
            Ok(Some(true)) => defined += 1,
            Ok(Some(false)) => refused += 1,
            Ok(None) => {}
            Err(what) => failures.push(format!("{operation} {x:?} {n:?}: {what}")),
        }
    }
    println!("{operation}: {defined} defined, {refused} refused");
    let first = &failures[..failures.len().min(5)];
    assert!(failures.is_empty(), "{} of {SAMPLES}:\n{}", failures.len(), first.join("\n"));
    assert!(defined >= SAMPLES / 4 && (refused > 0) != is_total, "{defined} defined, {refused} refused");
}

/// All doubles.
const DOUBLES: i32 = 1024;

const fn arguments(place: Place, top: i32) -> Arguments {
    Arguments { place, top }
}

macro_rules! operations {
    ($($operation:ident ($($place:ident $top:expr),*) $(to $exponents:expr)?, $is_total:expr;)*) => { $(
        #[test]
        fn $operation() {
            let exponents = [&[] as &[i32], $(&$exponents)?].concat();
            differ(stringify!($operation), &[$(arguments(Place::$place, $top)),*], &exponents, $is_total);
        }
    )* };
}

operations! {
    neg(Anywhere DOUBLES), true;
    add(Anywhere DOUBLES, Anywhere DOUBLES), true;
    sub(Anywhere DOUBLES, Anywhere DOUBLES), true;
    mul(Anywhere DOUBLES, Anywhere DOUBLES), true;
    div(Anywhere DOUBLES, Anywhere DOUBLES), false;
    fma(Anywhere DOUBLES, Anywhere DOUBLES, Anywhere DOUBLES), true;
    recip(Anywhere DOUBLES), false;
    sqr(Anywhere DOUBLES), true;
    abs(Anywhere DOUBLES), true;
    pown(Anywhere DOUBLES) to [-9, -4, -2, -1, 0, 1, 2, 3, 5, 8, 17], false;
    pow(Positive DOUBLES, Anywhere 20), false;
    atan2(Anywhere DOUBLES, Anywhere DOUBLES), true;
    sqrt(Positive DOUBLES), false;
    // Beyond these the exponents of values are out of reach.
    exp(Anywhere 38), true;
    exp2(Anywhere 38), true;
    exp10(Anywhere 36), true;
    log(Positive DOUBLES), false;
    log2(Positive DOUBLES), false;
    log10(Positive DOUBLES), false;
    sin(Anywhere DOUBLES), true;
    cos(Anywhere DOUBLES), true;
    tan(Anywhere DOUBLES), false;
    asin(Unit DOUBLES), false;
    acos(Unit DOUBLES), false;
    atan(Anywhere DOUBLES), true;
    sinh(Anywhere 38), true;
    cosh(Anywhere 38), true;
    tanh(Anywhere DOUBLES), true;
    asinh(Anywhere DOUBLES), true;
    acosh(Large DOUBLES), false;
    atanh(Unit DOUBLES), false;
}

#[test]
fn comparisons_and_sets() {
    let mut random = Random(0x1788_2017);
    let anywhere = arguments(Place::Anywhere, DOUBLES);
    let exact = |x: Interval| certkern_core::interval::Interval {
        lower: operation::dyadic(x.inf()),
        upper: operation::dyadic(x.sup()),
    };
    let mut apart = 0;
    for _ in 0..SAMPLES {
        let [x, y] = [0; 2].map(|_| interval(&mut random, anywhere));
        let (a, b) = (exact(x), exact(y));
        assert_eq!(a == b, x == y, "{x} {y}");
        assert_eq!(b.lower <= a.lower && a.upper <= b.upper, x.subset(y), "{x} {y}");
        assert_eq!(a.lower <= b.lower && a.upper <= b.upper, x.less(y), "{x} {y}");
        assert_eq!(a.upper < b.lower, x.strict_precedes(y), "{x} {y}");
        let meet = a.clone().meet(b.clone());
        let intersection = x.intersection(y);
        apart += usize::from(meet.is_empty());
        assert_eq!(meet.is_empty(), intersection.is_empty(), "{x} {y}");
        assert!(meet.is_empty() || meet == exact(intersection), "{x} {y}");
        let hull = x.convex_hull(y);
        assert_eq!((a.lower.min(b.lower), a.upper.max(b.upper)), (exact(hull).lower, exact(hull).upper), "{x} {y}");
    }
    assert!(apart > SAMPLES / 8 && apart < SAMPLES * 7 / 8, "{apart}");
}
