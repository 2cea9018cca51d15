//! Bounds of networks with S-shaped functions, by the kernel and by auto_LiRPA with the same lines.
//!
//! `certkern_oracles.lines` gives the bounds and slopes of auto_LiRPA. The kernel takes the slopes and finds its own intercepts and bounds, node after node.

use crate::bundle::Said;
use crate::statistics::Spread;
use crate::{children, root, shown};
use certkern_core::func::Function;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{NodeId, Primitive};
use certkern_core::rules::{Filter, FilterScope, NodeSlopes, Problem, RuleError, Scope, Slopes};
use certkern_core::tensor::{Tensor, Values};
use certkern_graph::Graph;
use certkern_seal::Documents;
use certkern_wire::Limits;
use cpu_time::ThreadTime;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// How much wider than those of auto_LiRPA the kernel's bounds may be.
const MARGIN: f64 = 0.01;

/// Digits that the exact tier keeps.
const DIGITS: usize = 3;

/// A network below `../shared/data` and a region.
struct Case {
    name: &'static str,
    network: &'static str,
    region: From,
}

enum From {
    /// That of this property.
    Property(&'static str),
    /// Coordinates between decimals.
    Box(&'static [(&'static str, &'static str)]),
}

const ERAN: &str = "eran_sigmoid_6x200/onnx/ffnnSIGMOID__Point_6x200.onnx";
const POINT: &str = "archcomp_ainncs/NAV/nn-nav-point.onnx";
const SET: &str = "archcomp_ainncs/NAV/nn-nav-set.onnx";

/// The initial states that the benchmark states.
const INITIAL: From = From::Box(&[("2.9", "3.1"), ("2.9", "3.1"), ("0", "0"), ("0", "0")]);

/// A wider box around them.
const WIDER: From = From::Box(&[("2.5", "3.5"), ("2.5", "3.5"), ("-0.5", "0.5"), ("-0.5", "0.5")]);

const fn eran(name: &'static str, property: &'static str) -> Case {
    Case { name, network: ERAN, region: From::Property(property) }
}

const CASES: [Case; 10] = [
    eran("eran 6x200, 56", "eran_sigmoid_6x200/vnnlib/mnist_spec_idx_56_eps_0.01200.vnnlib"),
    eran("eran 6x200, 3370", "eran_sigmoid_6x200/vnnlib/mnist_spec_idx_3370_eps_0.01200.vnnlib"),
    eran("eran 6x200, 7167", "eran_sigmoid_6x200/vnnlib/mnist_spec_idx_7167_eps_0.01200.vnnlib"),
    eran("eran 6x200, 7955", "eran_sigmoid_6x200/vnnlib/mnist_spec_idx_7955_eps_0.01200.vnnlib"),
    eran("eran 6x200, 9044", "eran_sigmoid_6x200/vnnlib/mnist_spec_idx_9044_eps_0.01200.vnnlib"),
    Case { name: "NAV point, initial", network: POINT, region: INITIAL },
    Case { name: "NAV point, wider", network: POINT, region: WIDER },
    Case { name: "NAV set, initial", network: SET, region: INITIAL },
    Case { name: "NAV set, wider", network: SET, region: WIDER },
    Case {
        name: "digits sigmoid, 1404",
        network: "abcrown_dumps/digits_sigmoid_1404_0.08_root/digits_sigmoid.onnx",
        region: From::Property("abcrown_dumps/digits_sigmoid_1404_0.08_root/digits_1404_0.08.vnnlib"),
    },
];

/// Lower and upper ends of values.
type Ends = Vec<[f64; 2]>;

/// An activation as auto_LiRPA sees it.
struct Activation {
    name: &'static str,
    /// Of the arguments.
    ends: Ends,
    /// Of lower and of upper lines, if the function is S-shaped.
    slopes: Option<[Vec<f64>; 2]>,
}

/// What auto_LiRPA found.
struct Lines {
    activations: Vec<Activation>,
    output: Ends,
    seconds: f64,
}

impl Lines {
    fn read(text: &Value) -> Said<Self> {
        let numbers = |value: &Value| -> Said<Vec<f64>> {
            let list = value.as_array().ok_or("a list is missing in lines.json")?;
            list.iter().map(|number| number.as_f64().ok_or_else(|| "lines.json holds no number".to_owned())).collect()
        };
        let ends = |value: &Value| -> Said<Ends> {
            let (lower, upper) = (numbers(&value["lower"])?, numbers(&value["upper"])?);
            Ok(lower.into_iter().zip(upper).map(|(lower, upper)| [lower, upper]).collect())
        };
        let activation = |value: &Value| -> Said<Activation> {
            let (name, bends) = match value["type"].as_str().unwrap_or_default() {
                "BoundRelu" => ("relu", false),
                "BoundSigmoid" => ("sigmoid", true),
                "BoundTanh" => ("tanh", true),
                other => return Err(format!("{other} is not known")),
            };
            let slopes = if bends { Some([numbers(&value["low"])?, numbers(&value["high"])?]) } else { None };
            Ok(Activation { name, ends: ends(value)?, slopes })
        };
        let activations = text["activations"].as_array().into_iter().flatten();
        Ok(Self {
            activations: activations.map(activation).collect::<Said<_>>()?,
            output: ends(&text["output"])?,
            seconds: text["seconds"].as_f64().unwrap_or(f64::NAN),
        })
    }
}

/// The kernel's bounds in one tier, by the same places as [`Lines`]: arguments of activations and outputs.
struct Found {
    arguments: Vec<Ends>,
    output: Ends,
    seconds: f64,
}

/// The program's functions in order, each with its node and its argument.
fn functions(problem: &Problem) -> Vec<(NodeId, NodeId, Function)> {
    let nodes = problem.program().nodes().iter().enumerate();
    let found = nodes.filter_map(|(id, node)| match &node.primitive {
        Primitive::Univariate { function, argument } => Some((id, *argument, function.clone())),
        _ => None,
    });
    found.collect()
}

fn failed(error: RuleError) -> String {
    format!("{error:?}")
}

/// The slopes of one node, a row for each of as many passes as any node is wide.
struct Given {
    node: NodeId,
    columns: Vec<usize>,
    sides: [Tensor; 2],
}

impl Given {
    fn new(node: NodeId, slopes: &[Vec<f64>; 2], rows: usize) -> Said<Self> {
        let columns = (0..slopes[0].len()).collect();
        let side = |slopes: &[f64]| {
            let row = slopes.iter().map(|slope| slope.to_bits());
            let bits = (0..rows).flat_map(|_| row.clone()).collect();
            Tensor::new(vec![rows, slopes.len()], Values::Binary64(bits)).map_err(|error| format!("{error:?}"))
        };
        Ok(Self { node, columns, sides: [side(&slopes[0])?, side(&slopes[1])?] })
    }

    fn slopes(&self) -> NodeSlopes<'_> {
        let [values, upper] = &self.sides;
        NodeSlopes { node: self.node, columns: &self.columns, values, upper: Some(upper), row: 0 }
    }
}

/// The same slopes from below and from above.
fn pairs(given: &[Given]) -> Vec<(NodeSlopes<'_>, NodeSlopes<'_>)> {
    given.iter().map(|given| (given.slopes(), given.slopes())).collect()
}

/// In binary64. The ends are those of the passes, before they meet those of IBP.
fn in_filter(problem: &Arc<Problem>, lines: &Lines) -> Said<Found> {
    const OUT: &str = "a number is out of the filter's range";
    let program = problem.program();
    let start = ThreadTime::now();
    let filter = Filter::new(problem, &[]).ok_or(OUT)?;
    let mut scope = FilterScope::root(&filter, None).map_err(failed)?;
    let widest = program.nodes().iter().map(|node| node.width).max().unwrap_or_default();
    let (mut given, mut arguments) = (Vec::new(), Vec::new());
    for ((node, argument, _), activation) in functions(problem).iter().zip(&lines.activations) {
        let all: Vec<usize> = (0..program.width(*argument)).collect();
        let slopes = pairs(&given);
        arguments.push(scope.tightened(*argument, &all, &slopes).ok_or(OUT)?);
        scope.tighten(*argument, &all, &slopes).map_err(failed)?;
        if let Some(slopes) = &activation.slopes {
            given.push(Given::new(*node, slopes, widest)?);
        }
    }
    let output = output(problem)?;
    let all: Vec<usize> = (0..program.width(output)).collect();
    let output = scope.tightened(output, &all, &pairs(&given)).ok_or(OUT)?;
    Ok(Found { arguments, output, seconds: start.elapsed().as_secs_f64() })
}

/// Exactly. The ends of arguments are those that the lines are drawn over: of the pass and of IBP.
fn exactly(problem: &Arc<Problem>, lines: &Lines) -> Said<Found> {
    let program = problem.program();
    let start = ThreadTime::now();
    let mut scope = Scope::root(problem, None, DIGITS).map_err(failed)?;
    let (mut slopes, mut arguments) = (Slopes::default(), Vec::new());
    let near = |interval: &certkern_core::interval::Interval| -> Said<[f64; 2]> {
        Ok([float(&interval.lower)?, float(&interval.upper)?])
    };
    for ((node, argument, function), activation) in functions(problem).iter().zip(&lines.activations) {
        let mut ends = Vec::new();
        for coordinate in 0..program.width(*argument) {
            let of = |scope: &Scope| scope.interval(*argument, coordinate).cloned().ok_or("an empty scope");
            let known = of(&scope)?;
            if function.linear_slope(&known.lower, &known.upper).is_none() {
                scope.tighten(*argument, coordinate, &slopes, &slopes).map_err(failed)?;
            }
            ends.push(near(&of(&scope)?)?);
        }
        arguments.push(ends);
        if let Some([low, high]) = &activation.slopes {
            let side = |slopes: &[f64]| {
                let exact = |slope: &f64| Dyadic::from_f64_bits(slope.to_bits()).ok_or("a slope that is no number");
                slopes.iter().map(exact).enumerate().map(|(at, slope)| Ok((at, slope?))).collect::<Said<Vec<_>>>()
            };
            slopes.set(*node, side(low)?);
            slopes.set_upper(*node, side(high)?);
        }
    }
    let output = output(problem)?;
    let found = (0..program.width(output)).map(|coordinate| {
        let found = scope.tightened(output, coordinate, &slopes, &slopes).map_err(failed)?;
        near(&found.ok_or("an empty scope")?)
    });
    let output = found.collect::<Said<_>>()?;
    Ok(Found { arguments, output, seconds: start.elapsed().as_secs_f64() })
}

fn float(number: &Dyadic) -> Said<f64> {
    let text = certkern_wire::number::about(&number.to_rational());
    text.parse().map_err(|error| format!("{text}: {error}"))
}

fn output(problem: &Problem) -> Said<NodeId> {
    match problem.program().outputs() {
        [output] => Ok(*output),
        outputs => Err(format!("{} outputs instead of one", outputs.len())),
    }
}

/// How much wider the kernel's intervals are, relative to those of auto_LiRPA: the most, and the median; and the mean width of auto_LiRPA's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wider {
    most: f64,
    median: f64,
    mean: f64,
}

impl Wider {
    fn of(pairs: &[([f64; 2], [f64; 2])]) -> Said<Self> {
        let width = |[lower, upper]: [f64; 2]| upper - lower;
        let wider: Vec<f64> = pairs.iter().map(|(ours, theirs)| width(*ours) / width(*theirs) - 1.0).collect();
        let most = wider.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !wider.iter().all(|wider| wider.is_finite()) {
            return Err("an interval of auto_LiRPA without a width, or one of the kernel without an end".to_owned());
        }
        let mean = pairs.iter().map(|(_, theirs)| width(*theirs)).sum::<f64>() / pairs.len() as f64;
        let median = Spread::of(wider).ok_or("nothing to compare")?.median;
        Ok(Self { most, median, mean })
    }
}

/// What the comparison in one tier came to: arguments of S-shaped functions, and outputs.
fn compare(found: &Found, lines: &Lines) -> Said<[Wider; 2]> {
    let arguments =
        found.arguments.iter().zip(&lines.activations).filter(|(_, activation)| activation.slopes.is_some());
    let arguments = arguments.flat_map(|(ours, theirs)| ours.iter().copied().zip(theirs.ends.iter().copied()));
    let output = found.output.iter().copied().zip(lines.output.iter().copied());
    Ok([Wider::of(&arguments.collect::<Vec<_>>())?, Wider::of(&output.collect::<Vec<_>>())?])
}

/// The problem whose network and property a folder holds.
fn open(folder: &Path) -> Said<Arc<Problem>> {
    let refused = |rejection: certkern_wire::Rejection| format!("{:?}", rejection.first());
    let limits = Limits::default();
    let imported = certkern_onnx::import(&bytes(&folder.join("net.onnx"))?).map_err(|error| format!("{error:?}"))?;
    let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), &limits).map_err(refused)?;
    let property = "property.json";
    let property =
        certkern_claims::read_property(property, &bytes(&folder.join(property))?, &limits).map_err(refused)?;
    Ok(Arc::clone(Documents::new(graph, property).map_err(refused)?.problem()))
}

fn bytes(path: &Path) -> Said<Vec<u8>> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

impl Case {
    /// The ends of the region, as rationals are spelled.
    fn region(&self, data: &Path) -> Said<Value> {
        let spelled = |ends: &[Rational]| ends.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (lower, upper): (Vec<String>, Vec<String>) = match self.region {
            From::Box(ends) => ends.iter().map(|(lower, upper)| ((*lower).to_owned(), (*upper).to_owned())).unzip(),
            From::Property(name) => {
                let property = certkern_claims::read_property(name, &bytes(&data.join(name))?, &Limits::default());
                let property = property.map_err(|rejection| format!("{:?}", rejection.first()))?;
                (spelled(&property.lower), spelled(&property.upper))
            }
        };
        Ok(json!({"lower": lower, "upper": upper}))
    }

    /// Asks auto_LiRPA; what it gives lies in `folder`.
    fn ask(&self, data: &Path, folder: &Path, (checkout, python): (&Path, &Path)) -> Said<Lines> {
        let said = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(said)?;
        let region = folder.join("box.json");
        fs::write(&region, self.region(data)?.to_string()).map_err(said)?;
        let mut command = Command::new(python);
        command.args(["-W", "ignore", "-m", "certkern_oracles.lines", "--abcrown"]).arg(checkout);
        command.arg("--onnx").arg(data.join(self.network)).arg("--box").arg(&region).arg("--out").arg(folder);
        command.env("PYTHONPATH", root().join("oracles/python"));
        children::run(&mut command)?;
        let path = folder.join("lines.json");
        let text = serde_json::from_slice(&bytes(&path)?).map_err(|error| format!("{}: {error}", shown(&path)))?;
        Lines::read(&text)
    }
}

/// The rows of the table of one case, and whether every interval is within the margin.
fn row(case: &Case, problem: &Arc<Problem>, lines: &Lines, exact: bool) -> Said<(String, bool)> {
    let same = |((_, argument, function), activation): (&(NodeId, NodeId, Function), &Activation)| {
        let name = match function {
            Function::Relu => "relu",
            Function::Library(function) => function.name(),
        };
        name == activation.name && problem.program().width(*argument) == activation.ends.len()
    };
    let functions = functions(problem);
    if functions.len() != lines.activations.len() || !functions.iter().zip(&lines.activations).all(same) {
        return Err(format!("{}: the activations are not those of auto_LiRPA", case.name));
    }
    let mut tiers = vec![("filter", in_filter(problem, lines)?)];
    if exact {
        tiers.push(("exact", exactly(problem, lines)?));
    }
    let (mut text, mut within) = (String::new(), true);
    for (tier, found) in &tiers {
        for (what, wider) in ["arguments", "outputs"].iter().zip(compare(found, lines)?) {
            let Wider { most, median, mean } = wider;
            within &= most <= MARGIN;
            let seconds = format!("{:.2} | {:.2}", lines.seconds, found.seconds);
            let name = case.name;
            text += &format!("| {name} | {what} | {mean:.4} | {tier} | {most:.1e} | {median:.1e} | {seconds} |\n");
        }
    }
    Ok((text, within))
}

/// Measures the cases that have `only` in their names, in the exact tier too if `exact`, with the checkout of α,β-CROWN in `checkout`, by the interpreter `python` of its environment.
///
/// # Errors
/// If something cannot be run, or bounds are wider than they may be.
pub(crate) fn measure(checkout: &Path, python: &Path, only: &str, exact: bool) -> Said<()> {
    let data = root().join("../shared/data");
    println!(
        "| case | values | mean width | tier | wider, most | median | auto_LiRPA, s | kernel, s |\n|---|---|---|---|---|---|---|---|"
    );
    let mut all = true;
    for (number, case) in CASES.iter().enumerate().filter(|(_, case)| case.name.contains(only)) {
        let folder = root().join("target/bounds").join(number.to_string());
        let lines = case.ask(&data, &folder, (checkout, python)).map_err(|error| format!("{}: {error}", case.name))?;
        let (text, within) = row(case, &open(&folder)?, &lines, exact)?;
        print!("{text}");
        all &= within;
    }
    if all { Ok(()) } else { Err(format!("wider than by {MARGIN}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store;

    /// `y = tanh(2x)` on [−1/2, 1] and as lower and upper line of the argument's interval [−1, 2] those of slope 1/4: the least of
    /// tanh z − z/4 is at −1, tanh(−1) + 1/4 = −0.5115941559557649, and the greatest where tanh² z = 3/4, √3/2 − z/4 with
    /// z = atanh(√3/2) = 1.3169578969248167, which is 0.5367859295532…. So y lies between −1/4 − 0.5115… and 1/2 + 0.5367….
    #[test]
    fn bounds_of_one_tanh_by_hand_in_both_tiers() {
        let graph = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[2],"nodes":[
            {"id":0,"kind":"input","parents":[],"shape":[1]},
            {"id":1,"kind":"linear","parents":[0],"shape":[1],"weight":[[2]],"bias":[0]},
            {"id":2,"kind":"tanh","parents":[1],"shape":[1]}]}"#;
        let limits = Limits::default();
        let graph = Graph::read(graph.as_bytes(), None, &limits).unwrap();
        let property = store::property(&["-0.5".to_owned()], &["1".to_owned()], 1, "0");
        let property = certkern_wire::property::parse(property.as_bytes(), &limits).unwrap();
        let documents = Documents::new(graph, property).unwrap();
        let activation = Activation { name: "tanh", ends: vec![[-1.0, 2.0]], slopes: Some([vec![0.25], vec![0.25]]) };
        let lines = Lines { activations: vec![activation], output: vec![[-0.7, 1.0]], seconds: 0.0 };
        let expected = [-0.25 - (1.0_f64.tanh() - 0.25), 0.5 + 0.75_f64.sqrt() - 0.75_f64.sqrt().atanh() / 4.0];
        for found in [in_filter(documents.problem(), &lines).unwrap(), exactly(documents.problem(), &lines).unwrap()] {
            let near = |found: [f64; 2], wanted: [f64; 2]| {
                assert!((found[0] - wanted[0]).abs() < 1e-9 && (found[1] - wanted[1]).abs() < 1e-9, "{found:?}");
                assert!(found[0] <= wanted[0] + 1e-15 && found[1] >= wanted[1] - 1e-15, "{found:?}");
            };
            near(found.arguments[0][0], [-1.0, 2.0]);
            near(found.output[0], expected);
            let [arguments, outputs] = compare(&found, &lines).unwrap();
            assert!(arguments.most.abs() < 1e-9);
            assert!((outputs.most - ((expected[1] - expected[0]) / 1.7 - 1.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn the_widest_interval_and_the_median_are_told() {
        let pair = |ours: f64| ([0.0, ours], [1.0, 3.0]);
        let wider = Wider::of(&[pair(2.0), pair(3.0), pair(2.5)]).unwrap();
        assert_eq!(wider, Wider { most: 0.5, median: 0.25, mean: 2.0 });
        assert!(Wider::of(&[([0.0, f64::INFINITY], [0.0, 1.0])]).is_err());
        assert!(Wider::of(&[([0.0, 1.0], [1.0, 1.0])]).is_err());
    }
}
