//! Enclosures: the kernel's values of functions against Arb's at the same points and the same precision, and a file of many claims as a whole.

use crate::bundle::Said;
use crate::children::{self, Server};
use crate::random::Stream;
use crate::statistics::Spread;
use crate::{Options, folder, remove, root, shown};
use certkern_core::expr::{Expressions, Node};
use certkern_core::func::Elementary;
use certkern_core::num::{Dyadic, Rational};
use certkern_wire::digest::query_digest;
use cpu_time::ThreadTime;
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Bits of precision.
const PRECISIONS: [usize; 3] = [53, 200, 1000];
/// Points of a measurement.
const POINTS: usize = 64;
/// Seconds that a measurement takes at least.
const ENOUGH: f64 = 0.002;
/// Arb's seconds below which there is no ratio: what is left of a call is noise.
const NOISE: f64 = 3e-8;
/// Claims of the file.
const CLAIMS: usize = 10_000;
/// Workloads are chosen by parts of `enclosure NAME`.
const PREFIX: &str = "enclosure";

/// Functions with their parameters, and where they are evaluated. Those that are made of lines are no work for either side.
const FUNCTIONS: [(&str, f64, f64); 34] = [
    ("exp", -8.0, 8.0),
    ("expm1", -8.0, 8.0),
    ("log", 0.0, 8.0),
    ("log1p", -0.9, 8.0),
    ("log2", 0.0, 8.0),
    ("sqrt", 0.0, 8.0),
    ("rsqrt", 0.0, 8.0),
    ("inv", 0.0, 8.0),
    ("sin", -8.0, 8.0),
    ("cos", -8.0, 8.0),
    ("tan", -1.5, 1.5),
    ("asin", -1.0, 1.0),
    ("acos", -1.0, 1.0),
    ("atan", -8.0, 8.0),
    ("sinh", -8.0, 8.0),
    ("cosh", -8.0, 8.0),
    ("tanh", -8.0, 8.0),
    ("asinh", -8.0, 8.0),
    ("acosh", 1.0, 8.0),
    ("atanh", -1.0, 1.0),
    ("erf", -4.0, 4.0),
    ("erfc", -4.0, 4.0),
    ("sigmoid", -8.0, 8.0),
    ("softplus", -8.0, 8.0),
    ("silu", -8.0, 8.0),
    ("gelu", -4.0, 4.0),
    ("gelu_tanh", -4.0, 4.0),
    ("mish", -8.0, 8.0),
    ("power 1/3", 0.0, 8.0),
    ("power -7/5", 0.0, 8.0),
    ("power 3", -8.0, 8.0),
    ("elu 3/2", -8.0, 0.0),
    ("celu 3/7", -8.0, 0.0),
    ("selu 1673/1000 21/20", -8.0, 0.0),
];
/// Those of a quick run.
const QUICK: [&str; 2] = ["tanh", "atan"];

/// A row of the table.
pub(crate) enum Row {
    /// A function at each precision.
    Function(&'static str, Vec<Compared>),
    /// The file of claims: how many, processor seconds of checks, megabytes.
    Claims(usize, Spread, f64),
}

/// Seconds for one value: Arb's, without the call; the call; the kernel's; and the ratios of pairs, kernel over Arb, if Arb takes long enough.
pub(crate) struct Compared {
    arb: f64,
    call: f64,
    kernel: f64,
    ratio: Option<Spread>,
}

/// Measures what is wanted.
///
/// # Errors
/// If a program fails, or a check does not accept.
pub(crate) fn measure(options: &Options) -> Said<Vec<Row>> {
    let wanted = |name: &str| format!("{PREFIX} {name}").contains(&options.only);
    let functions: Vec<_> =
        FUNCTIONS.into_iter().filter(|(name, ..)| wanted(name) && (!options.quick || QUICK.contains(name))).collect();
    let mut rows = Vec::new();
    if functions.is_empty() && !wanted("claims") {
        return Ok(rows);
    }
    let mut arb = Server::start(&options.python, &[shown(&root().join("bench/arb.py"))])?;
    if let Some(why) = ask(&mut arb, "exp", 53, &[Dyadic::zero()], false)?["unsupported"].as_str() {
        eprintln!("{PREFIX}: SKIPPED: {why}");
        return Ok(rows);
    }
    for (name, low, high) in functions {
        let compared =
            PRECISIONS.map(|bits| compare(&mut arb, name, &points(low, high, bits, POINTS), bits, options.pairs));
        rows.push(Row::Function(name, compared.into_iter().collect::<Said<_>>()?));
        eprintln!("{}", rows[rows.len() - 1].line());
    }
    if wanted("claims") {
        rows.push(claims(&mut arb, options)?);
        eprintln!("{}", rows[rows.len() - 1].line());
    }
    Ok(rows)
}

/// The function of this name with these parameters.
fn function(name: &str) -> Said<Elementary> {
    let mut words = name.split(' ');
    let (name, parameters) =
        (words.next().unwrap_or_default(), words.map(str::parse).collect::<Result<Vec<Rational>, _>>());
    let parameters = parameters.map_err(|error| format!("{name}: {error}"))?;
    Elementary::new(name, parameters).ok_or_else(|| format!("no function {name}"))
}

/// Evenly between two numbers, with so many bits.
fn points(low: f64, high: f64, bits: usize, count: usize) -> Vec<Dyadic> {
    let mut source = Stream::new(11);
    let mut point = || {
        let start = low + (high - low) * source.unit();
        let mut point = Dyadic::from_f64_bits(start.to_bits()).unwrap_or_else(Dyadic::zero);
        let mut exponent = point.exponent();
        let end = point.magnitude().unwrap_or(0) - bits as i64;
        while exponent > end {
            let step = (exponent - end).min(63);
            exponent -= step;
            let more = Dyadic::new(source.bits() >> (64 - step), exponent);
            point = if point.is_negative() { &point - &more } else { &point + &more };
        }
        point
    };
    (0..count).map(|_| point()).collect()
}

fn ask(arb: &mut Server, function: &str, bits: usize, points: &[Dyadic], values: bool) -> Said<Value> {
    let points: Vec<Value> = points.iter().map(|x| json!([x.mantissa().to_string(), x.exponent()])).collect();
    arb.ask(&json!({"function": function, "bits": bits, "points": points, "values": values}).to_string())
}

/// Pairs of measurements that follow each other in changing order.
fn compare(arb: &mut Server, name: &str, points: &[Dyadic], bits: usize, pairs: usize) -> Said<Compared> {
    let function = function(name)?;
    let (mut seconds, mut calls) = (Vec::new(), Vec::new());
    for turn in 0..pairs {
        let mut own = (turn % 2 == 0).then(|| kernel(&function, points, bits)).transpose()?;
        let found = ask(arb, name, bits, points, false)?;
        let number = |name: &str| found[name].as_f64().ok_or_else(|| format!("Arb: {found}"));
        if own.is_none() {
            own = Some(kernel(&function, points, bits)?);
        }
        seconds.push([number("arb_s")?, own.unwrap_or_default()]);
        calls.push(number("call_s")?);
    }
    let median = |sample: Vec<f64>| Spread::of(sample).map_or(0.0, |spread| spread.median);
    let arb = median(seconds.iter().map(|pair| pair[0]).collect());
    Ok(Compared {
        arb,
        call: median(calls),
        kernel: median(seconds.iter().map(|pair| pair[1]).collect()),
        ratio: Spread::of_ratios(&seconds).filter(|_| arb > NOISE),
    })
}

/// The kernel's processor seconds for a value.
fn kernel(function: &Elementary, points: &[Dyadic], bits: usize) -> Said<f64> {
    let mut times = 1_u32;
    loop {
        let start = ThreadTime::now();
        for _ in 0..times {
            for x in points {
                function.at(x, bits as u64).map_err(|refusal| format!("{function:?}: {refusal:?}"))?;
            }
        }
        let spent = start.elapsed().as_secs_f64();
        if spent >= ENOUGH {
            return Ok(spent / f64::from(times) / points.len() as f64);
        }
        times *= 2;
    }
}

/// Checks of a file of claims about tanh, whose balls are Arb's at 64 bits.
fn claims(arb: &mut Server, options: &Options) -> Said<Row> {
    let points = points(-8.0, 8.0, 53, CLAIMS);
    let found = ask(arb, "tanh", 64, &points, true)?;
    let spelled: Vec<String> = points.iter().map(|x| x.to_rational().to_string()).collect();
    let leaf = |text: &String| {
        let number = text.parse().map_err(|_| "no number")?;
        Node::new("rational", Vec::new(), vec![number])
    };
    let pairs =
        spelled.iter().enumerate().map(|(i, text)| Ok([leaf(text)?, Node::new("tanh", vec![2 * i], Vec::new())?]));
    let nodes: Vec<Node> = pairs.collect::<Result<Vec<_>, &str>>()?.into_iter().flatten().collect();
    let outputs: Vec<usize> = (0..CLAIMS).map(|i| 2 * i + 1).collect();
    let digest = query_digest(&Expressions::new(nodes, outputs.clone()).map_err(|(_, what)| what)?);
    let nodes = spelled
        .iter()
        .enumerate()
        .flat_map(|(i, text)| [json!({"op": "rational", "numbers": [text]}), json!({"op": "tanh", "args": [2 * i]})]);
    let query =
        json!({"format": "certkern.enclosure-query.v1", "nodes": nodes.collect::<Vec<_>>(), "outputs": outputs});
    let answer = json!({"format": "certkern.enclosure-answer.v1", "query": digest.to_string(), "status": "ok", "values": found["values"]});
    let folder = folder(PREFIX);
    remove(&folder)?;
    let path = folder.join("claims.json");
    let document = json!({"format": "certkern.enclosure.v1", "query": query, "answer": answer}).to_string();
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, document));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut seconds, mut peak_mb) = (Vec::new(), 0.0_f64);
    for _ in 0..options.pairs {
        let run = children::run(Command::new(&options.checker).arg("check").arg(&path))?;
        if !run.output.lines().next_back().unwrap_or_default().starts_with("s ACCEPTED enclosure ") {
            return Err(format!("{}: {}", path.display(), run.output));
        }
        seconds.push(run.cpu);
        peak_mb = peak_mb.max(run.peak_mb);
    }
    remove(&folder)?;
    Ok(Row::Claims(CLAIMS, Spread::of(seconds).ok_or("no checks")?, peak_mb))
}

impl Row {
    /// The row as an object.
    pub(crate) fn json(&self) -> Value {
        let spread = |s: &Spread| json!({"median": s.median, "low": s.low, "high": s.high});
        match self {
            Self::Function(name, compared) => {
                let cells = PRECISIONS.iter().zip(compared).map(|(bits, Compared { arb, call, kernel, ratio })| {
                    json!({"bits": bits, "arb_s": arb, "call_s": call, "kernel_s": kernel, "kernel_arb": ratio.as_ref().map(spread)})
                });
                json!({"workload": format!("{PREFIX} {name}"), "precisions": cells.collect::<Vec<_>>()})
            }
            Self::Claims(claims, seconds, peak_mb) => {
                json!({"workload": format!("{PREFIX} claims"), "claims": claims, "check_s": spread(seconds), "peak_mb": peak_mb})
            }
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Function(name, compared) => {
                compared.iter().fold(format!("{name:<22}"), |line, Compared { arb, call, kernel, ratio }| {
                    let ratio = ratio.map(|s| format!("{:.2} ({:.2}-{:.2})", s.median, s.low, s.high));
                    let ratio = ratio.unwrap_or_else(|| "-".to_owned());
                    let [arb, call, kernel] = [arb, call, kernel].map(|seconds| seconds * 1e6);
                    format!("{line} {arb:>8.2} {call:>5.2} {kernel:>8.2} {ratio:>17}")
                })
            }
            Self::Claims(claims, Spread { median, low, high }, peak_mb) => {
                format!(
                    "{claims} claims of tanh at 64 bits checked in {median:.2} s ({low:.2}-{high:.2}), peak {peak_mb:.0} MB"
                )
            }
        }
    }
}

/// The rows with a head.
pub(crate) fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = PRECISIONS.iter().fold(format!("{:<22}", "enclosure"), |line, bits| {
        format!("{line} {:>8} {:>5} {:>8} {:>17}", format!("Arb {bits}"), "call", "kernel", "kernel/Arb")
    });
    rows.iter().fold(format!("\n{head}   (µs)\n"), |table, row| table + &row.line() + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_their_bits_and_lie_between() {
        for (low, high) in [(-8.0, 8.0), (0.0, 1.0)] {
            let ends = [low, high].map(|x: f64| Dyadic::from_f64_bits(x.to_bits()).unwrap());
            for bits in PRECISIONS {
                let points = points(low, high, bits, 100);
                assert!(points.iter().all(|x| *x >= ends[0] && *x <= ends[1]));
                let longest = points.iter().map(|x| x.mantissa().bits()).max().unwrap();
                assert!((bits as u64 - 1..=bits as u64 + 53).contains(&longest), "{longest}");
            }
        }
    }

    #[test]
    fn every_function_is_one_of_the_kernel() {
        for (name, low, high) in FUNCTIONS {
            let function = function(name).unwrap();
            for x in points(low, high, 53, 20) {
                assert!(function.at(&x, 53).is_ok(), "{name}");
            }
        }
    }
}
