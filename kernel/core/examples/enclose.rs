//! Balls around values of the library's functions, for comparison with another implementation.
//!
//! Each line of standard input is `NAME BITS MANTISSA EXPONENT PARAMETER...` for `f(MANTISSA · 2^EXPONENT)`, or `NAME BITS` for a constant. Each line of
//! standard output is `MANTISSA EXPONENT MANTISSA EXPONENT`, midpoint and radius, or the word `undefined` or `limit`.

use certkern_core::func::{Constant, Elementary, Refusal};
use certkern_core::num::{Ball, Dyadic, Rational};
use num_bigint::BigInt;
use std::io::{BufRead, BufWriter, Error, ErrorKind, Write};

fn main() -> Result<(), Error> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let ball = answer(&line).ok_or_else(|| Error::new(ErrorKind::InvalidData, line))?;
        match ball {
            Ok(ball) => {
                let (m, r) = (ball.midpoint(), ball.radius());
                writeln!(output, "{} {} {} {}", m.mantissa(), m.exponent(), r.mantissa(), r.exponent())?;
            }
            Err(Refusal::Undefined) => writeln!(output, "undefined")?,
            Err(Refusal::Limit) => writeln!(output, "limit")?,
        }
    }
    output.flush()
}

/// `None` if the line is not understood.
fn answer(line: &str) -> Option<Result<Ball, Refusal>> {
    let mut words = line.split(' ');
    let (name, bits) = (words.next()?, words.next()?.parse().ok()?);
    let constant = match name {
        "pi" => Some(Constant::Pi),
        "e" => Some(Constant::E),
        "ln2" => Some(Constant::Ln2),
        "gamma" => Some(Constant::Gamma),
        _ => None,
    };
    if let Some(constant) = constant {
        return Some(constant.enclosure(bits));
    }
    let (mantissa, exponent): (BigInt, i64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let parameters = words.map(|word| word.parse().ok()).collect::<Option<Vec<Rational>>>()?;
    Some(Elementary::new(name, parameters)?.at(&Dyadic::new(mantissa, exponent), bits))
}
