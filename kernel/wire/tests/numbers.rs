//! Numbers as text: exact values by hand, rounding against the standard library's own parser.

mod shared;

use certkern_core::num::Rational;
use certkern_wire::number::{decimal, nearest_binary32, nearest_binary64, rational_text};
use certkern_wire::{Limits, Reason};

fn q(p: i64, d: i64) -> Rational {
    Rational::new(p.into(), d.into())
}

#[test]
fn text_spells_a_rational() {
    let table = [
        ("0", q(0, 1)),
        ("-0", q(0, 1)),
        ("0e1100", q(0, 1)),
        ("0.000", q(0, 1)),
        ("10", q(10, 1)),
        ("-1.25", q(-5, 4)),
        ("1.50e1", q(15, 1)),
        ("25e-1", q(5, 2)),
        ("100e-2", q(1, 1)),
        ("1E+2", q(100, 1)),
        ("0.1", q(1, 10)),
        ("6e-1", q(3, 5)),
        ("1000000007e-3", q(1_000_000_007, 1000)),
    ];
    for (text, value) in table {
        let read = decimal(text, &Limits::default()).unwrap();
        assert_eq!(read, value, "{text}");
        // Lowest terms, although no divisor was sought: the parts must be equal too.
        assert_eq!((read.numer(), read.denom()), (value.numer(), value.denom()), "{text}");
    }
    let strings = [
        ("-3/6", q(-1, 2)),
        ("7/1", q(7, 1)),
        ("0x1p0", q(1, 1)),
        ("-0x1.8p-3", q(-3, 16)),
        ("0X.8P+1", q(1, 1)),
        ("0xA.p0", q(10, 1)),
        ("0x0.00p-5", q(0, 1)),
        ("0.5", q(1, 2)),
    ];
    for (text, value) in strings {
        assert_eq!(rational_text(text, &Limits::default()).unwrap(), value, "{text}");
    }
}

#[test]
fn other_text_is_refused() {
    for text in [
        "", "-", "+1", "01", "-00", ".5", "1.", "1e", "1e+", "1.e1", "0x1p0", " 1", "1 ", "1_0", "NaN", "inf",
        "Infinity", "1/2", "--1", "١",
    ] {
        assert_eq!(decimal(text, &Limits::default()), Err(Reason::JsonNumber(text.to_owned())), "{text}");
    }
    for text in [
        "1/0", "1/-2", "1/", "/2", "1/2/3", "1.0/2", "1e1/2", "0x", "0xp1", "0x1", "0x.p1", "0x1p", "0x1.8", "0x1p1.0",
        "+0x1p1", "0x-1p1", "1 /2", "-0x", "0xgp1",
    ] {
        assert_eq!(rational_text(text, &Limits::default()), Err(Reason::JsonNumber(text.to_owned())), "{text}");
    }
}

#[test]
fn budgets_come_before_work() {
    let limits = Limits { digits: 10, exponent: 999, ..Limits::default() };
    let limit = |name, limit| Err(Reason::Limit { name, limit });
    assert!(decimal("1e999", &limits).is_ok());
    assert!(decimal("1e-999", &limits).is_ok());
    assert_eq!(decimal("1e1000", &limits), limit("exponent", 999));
    assert_eq!(decimal("1e-100000000", &limits), limit("exponent", 999));
    assert_eq!(decimal("0e9999999", &limits), limit("exponent", 999));
    assert!(decimal("12345.67890", &limits).is_ok());
    assert_eq!(decimal("12345.678901", &limits), limit("digits", 10));
    assert_eq!(decimal("1e00000000001", &limits), limit("digits", 10));
    assert_eq!(rational_text("1/12345678901", &limits), limit("digits", 10));
    assert_eq!(rational_text("0x12345678901p1", &limits), limit("digits", 10));
    assert_eq!(rational_text("0x1p-1000", &limits), limit("exponent", 999));
    assert_eq!(decimal("1e1000000000", &Limits::default()), limit("exponent", 1100));
}

/// The standard library rounds decimal text correctly by another algorithm.
#[test]
fn rounding_agrees_with_the_standard_library() {
    let mut random = shared::Random(0x9e37_79b9_7f4a_7c15);
    let mut texts: Vec<String> = [
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740995",
        "4.9e-324",
        "2.5e-324",
        "1e-400",
        "-1e-400",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e400",
        "3.4028235e38",
        "3.40282356e38",
        "3.4028236e38",
        "1.401298464324817e-45",
        "7.006492321624085e-46",
        "7.006492321624086e-46",
        "1.1754943e-38",
        "1.17549429e-38",
        "16777217",
        "16777219",
        "0.1",
        "-0.3",
        "1",
        "0",
    ]
    .map(str::to_owned)
    .to_vec();
    // 2^-1075, half of the least subnormal, exactly: a tie that goes to zero. And one more digit behind it: it does not.
    let tie = (certkern_core::num::Dyadic::new(1, -1075).to_rational()
        * Rational::from_integer(num_bigint::BigInt::from(10).pow(1075)))
    .to_integer();
    texts.push(format!("{tie}e-1075"));
    texts.push(format!("{tie}1e-1076"));
    for _ in 0..4000 {
        let digits = 1 + random.below(25);
        let mantissa: String = (0..digits).map(|_| char::from(b'0' + random.below(10) as u8)).collect();
        let exponent = random.below(720) as i64 - 370;
        texts.push(format!("{}1{mantissa}e{exponent}", if random.below(2) == 0 { "-" } else { "" }));
        // Decimals of few digits at float-like sizes, and around the ends of binary32.
        texts.push(format!("0.{mantissa}"));
        texts.push(format!("1{mantissa}e{}", random.below(100) as i64 - 60 - digits as i64));
    }
    for text in texts {
        let value = decimal(&text, &Limits::default()).unwrap();
        let (wide, narrow): (f64, f32) = (text.parse().unwrap(), text.parse().unwrap());
        assert_eq!(nearest_binary64(&value), wide.is_finite().then(|| wide.to_bits()), "{text}");
        assert_eq!(nearest_binary32(&value), narrow.is_finite().then(|| narrow.to_bits()), "{text}");
    }
}

/// Every finite float is nearest to itself, and the middle between neighbours goes to the even one.
#[test]
fn floats_and_middles_round_to_even() {
    let mut random = shared::Random(7);
    for _ in 0..20_000 {
        let bits = random.next() & 0x7fff_ffff_ffff_ffff;
        let exact = |bits| certkern_core::num::Dyadic::from_f64_bits(bits).map(|d| d.to_rational());
        let (Some(low), Some(high)) = (exact(bits), exact(bits + 1)) else { continue };
        assert_eq!(nearest_binary64(&low), Some(bits));
        let even = if bits.is_multiple_of(2) { bits } else { bits + 1 };
        assert_eq!(nearest_binary64(&((low + high) / q(2, 1))), Some(even));
    }
}
