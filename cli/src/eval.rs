//! `certkern eval`: the values of a network at a point.

mod shown;

use crate::Format;
use crate::digest;
use crate::failure::Failure;
use crate::input::{self, Named};
use crate::network::Network;
use crate::output;
use certkern_core::NoValue;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{NodeId, Program};
use certkern_cudakern::{Backend, Bounds, Cpu, Difference, Layout, Number, Probe};
use certkern_graph::{Graph, Lowered};
use certkern_wire::tensors::Source;
use certkern_wire::{Limits, Reason, Rejection};
use clap::ValueEnum;
use shown::{Comparison, Evaluation, Output, Value};
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = "\
Examples:
  certkern eval certs/accept/leaves/small_relu --at '[0.5, \"-1/3\"]'
  certkern eval net.onnx --at point.json --arith balls --precision 256
  certkern eval graph.json --payload payload.safetensors --at point.json --node 3,5
  certkern eval net/ --at point.json --numbers float32 --compare float32
  certkern eval net/ --probe probe.json

NET is a bundle or what an importer wrote (a folder), a graph in JSON, or an ONNX file, which is imported first.
POINT is a list of numbers, nested or flat, one for each element of the input in row-major order: in a file, or on
the command line where it begins with `[`. An object with such a list at `x` will do too. A number is a JSON number or
a string, \"1/3\" or \"0x1.8p-3\", and is taken exactly as it is written; with --numbers float32 as the float32 nearest
to it, which is what a network gets that was given the same text.

The kernel computes the values: exactly where they are rational and short (--arith exact refuses others), else in
balls of --precision bits, which contain them. Decimals are rounded outward: a number lies between the two that are
shown, or within `±` of the one. float32 and float64 are a plain evaluator on the CPU, which nobody has to believe.

With --compare that evaluator is held against the kernel's values: each number must lie within the bound that is
known beforehand for every run in that format, in whatever order it sums (docs/numbers.md). With --probe the outputs
of another program are, such as those of PyTorch:
  {\"format\": \"certkern.probe.v1\", \"arith\": \"float32\", \"x\": [0.1, 2], \"y\": [0.7], \"producer\": \"torch 2.8\"}
Its numbers are the nearest ones of `arith`. That is evidence of the kind `compared`; `certkern check --probe` puts it
into a report.

Exit codes: 0 values printed, and compared ones within their bounds, 1 one is not, 2 a document is at fault or a value
is not defined, 3 a named budget was exceeded, 64 usage, 70 internal error.";

/// The arguments of `certkern eval`.
#[derive(clap::Args)]
pub(crate) struct Eval {
    /// The network: a bundle, a folder of an importer, a graph in JSON, or an ONNX file
    #[arg(value_name = "NET")]
    network: PathBuf,
    /// The numbers of a graph that is given as a JSON file
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// The point: a JSON file, or a list on the command line
    #[arg(
        long,
        value_name = "POINT",
        allow_hyphen_values = true,
        required_unless_present = "probe",
        conflicts_with = "probe"
    )]
    at: Option<String>,
    /// A point with the outputs that another program gave there, to be compared
    #[arg(long, value_name = "FILE", conflicts_with_all = ["node", "compare", "numbers"])]
    probe: Option<PathBuf>,
    /// What the numbers of the point mean
    #[arg(long, value_enum, default_value = "exact")]
    numbers: Numbers,
    /// What computes the values that are printed
    #[arg(long, value_enum, default_value = "auto")]
    arith: Arith,
    /// Nodes of the graph whose values are printed, in the stead of the outputs
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    node: Vec<usize>,
    /// Bits of the balls
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = clap::value_parser!(u64).range(16..=4096))]
    precision: u64,
    /// Compare a run in floats with the kernel's values
    #[arg(long, value_enum)]
    compare: Option<Floats>,
    /// How the values are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// What numbers mean.
#[derive(Clone, Copy, ValueEnum)]
enum Numbers {
    /// What they spell
    Exact,
    /// The float32 nearest to that
    Float32,
    /// The float64 nearest to that
    Float64,
}

/// What computes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Arith {
    /// The kernel: exact numbers where possible, else balls
    Auto,
    /// The kernel, in exact numbers
    Exact,
    /// The kernel, in balls
    Balls,
    /// An evaluator in floats
    Float32,
    /// An evaluator in floats
    Float64,
}

/// A format of floats.
#[derive(Clone, Copy, ValueEnum)]
enum Floats {
    /// binary32
    Float32,
    /// binary64
    Float64,
}

impl From<Floats> for certkern_cudakern::Format {
    fn from(floats: Floats) -> Self {
        match floats {
            Floats::Float32 => Self::Float32,
            Floats::Float64 => Self::Float64,
        }
    }
}

impl Numbers {
    fn format(self) -> Option<certkern_cudakern::Format> {
        match self {
            Self::Exact => None,
            Self::Float32 => Some(certkern_cudakern::Format::Float32),
            Self::Float64 => Some(certkern_cudakern::Format::Float64),
        }
    }
}

/// A network, what it means, and the graph nodes that are asked for.
struct Asked {
    graph: Graph,
    lowered: Lowered,
    nodes: Vec<usize>,
}

impl Eval {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let asked = self.asked(&limits)?;
        let probe = self.probe.as_deref().map(|path| read_probe(path, &limits)).transpose()?;
        let point = match (&probe, &self.at) {
            (Some(probe), _) => probe.x.clone(),
            (None, Some(at)) => self.point(at, &limits)?,
            (None, None) => return Err(Failure::Usage("give a point with --at, or --probe".to_owned())),
        };
        asked.holds(point.len())?;
        let program = asked.program()?;
        let (arith, values) = match self.arith {
            Arith::Float32 => ("float32".to_owned(), shown_floats(&floats::<f32>(&program, &point)?)),
            Arith::Float64 => ("float64".to_owned(), shown_floats(&floats::<f64>(&program, &point)?)),
            _ => self.kernel_values(&asked, &program, &point)?,
        };
        let comparison = match (&probe, self.compare) {
            (Some(probe), _) => Some(asked.probed(probe, self.bits())?),
            (None, Some(floats)) => Some(self.compared(&asked, &program, &point, floats)?),
            (None, None) => None,
        };
        let mut values = values.into_iter();
        let output = |id: &usize| {
            let node = &asked.graph.nodes()[*id];
            let values = values.by_ref().take(node.width()).collect();
            Output { node: *id, kind: node.kind(), shape: node.shape().to_vec(), values }
        };
        let outputs = asked.nodes.iter().map(output).collect();
        let evaluation = Evaluation { digests: digest::of_graph(&asked.graph), arith, outputs, comparison };
        output::print(&match self.format {
            Format::Text => evaluation.text(),
            Format::Json => format!("{}\n", evaluation.json()),
        })?;
        Ok(u8::from(evaluation.comparison.is_some_and(|comparison| !comparison.is_within())))
    }

    /// Bits of the balls that floats are compared with.
    fn bits(&self) -> u64 {
        self.precision.max(128)
    }

    fn asked(&self, limits: &Limits) -> Result<Asked, Failure> {
        let is_json = self.network.extension().is_some_and(|ending| ending == "json") && self.network.is_file();
        let (graph, payload): (Named, Option<Named>) = if is_json {
            let payload = self.payload.as_ref().map(|path| input::named(path, limits)).transpose()?;
            (input::named(&self.network, limits)?, payload)
        } else if self.payload.is_some() {
            return Err(Failure::Usage("--payload goes with a graph in a file that ends in .json".to_owned()));
        } else {
            let Network { graph, payload, .. } = Network::read(&self.network, limits)?;
            (graph, Some(payload))
        };
        let payload = payload.as_ref().map(|(_, bytes)| bytes as &dyn Source);
        let read = Graph::read(&graph.1, payload, limits).and_then(|read| Ok((read.lower()?, read)));
        let (lowered, read) = read.map_err(|rejection| rejection.in_file(&graph.0))?;
        let count = read.nodes().len();
        if let Some(id) = self.node.iter().find(|id| **id >= count) {
            let last = count.saturating_sub(1);
            return Err(Failure::Usage(format!("--node {id}: the nodes of {} are 0 to {last}", graph.0)));
        }
        let nodes = if self.node.is_empty() { read.output_ids() } else { &self.node }.to_vec();
        Ok(Asked { graph: read, lowered, nodes })
    }

    fn point(&self, at: &str, limits: &Limits) -> Result<Vec<Rational>, Failure> {
        let (name, bytes) = match at.trim_start().starts_with(['[', '{']) {
            true => ("--at".to_owned(), at.as_bytes().to_vec()),
            false => input::named(Path::new(at), limits)?,
        };
        let read = certkern_cudakern::point(&bytes, self.numbers.format(), limits);
        Ok(read.map_err(|rejection| rejection.in_file(&name))?)
    }

    /// The values that the kernel computes, and how.
    fn kernel_values(
        &self,
        asked: &Asked,
        program: &Program,
        point: &[Rational],
    ) -> Result<(String, Vec<Value>), Failure> {
        if self.arith != Arith::Balls {
            let alone = self.arith == Arith::Exact;
            match program.evaluate(point) {
                Ok(values) => return Ok(("exact".to_owned(), values.into_iter().map(Value::Exact).collect())),
                Err(NoValue::Undefined { node, coordinate }) => {
                    let text = format!("{}: not defined at the point, coordinate {coordinate}", asked.name(node));
                    return Err(Failure::Import(text));
                }
                Err(NoValue::Irrational(node)) if alone => {
                    let text = format!("{} has no rational values: use --arith balls", asked.name(node));
                    return Err(Failure::Usage(text));
                }
                Err(NoValue::Length) if alone => {
                    return Err(Failure::Usage("exact values are excessively long: use --arith balls".to_owned()));
                }
                Err(_) => {}
            }
        }
        let balls = program.enclose(point, self.precision).ok_or_else(|| asked.unenclosed(point, self.precision))?;
        Ok((format!("balls of {} bits", self.precision), balls.into_iter().map(Value::Ball).collect()))
    }

    /// A run of the evaluator on the CPU beside the kernel's values.
    fn compared(
        &self,
        asked: &Asked,
        program: &Program,
        point: &[Rational],
        floats: Floats,
    ) -> Result<Comparison, Failure> {
        let format = certkern_cudakern::Format::from(floats);
        let found = match floats {
            Floats::Float32 => rational(&self::floats::<f32>(program, point)?),
            Floats::Float64 => rational(&self::floats::<f64>(program, point)?),
        };
        let bounds = Bounds::new(&asked.graph, &asked.lowered, point, format, self.bits()).map_err(failed)?;
        let mut found = found.into_iter();
        let of = |id: &usize| {
            let found = found.by_ref().take(asked.graph.nodes()[*id].width()).collect();
            Difference::all(found, bounds.of(asked.lowered.values[*id]))
        };
        let numbers = asked.nodes.iter().flat_map(of).collect();
        Ok(Comparison { format, producer: "certkern's evaluator on the CPU".to_owned(), numbers })
    }
}

impl Asked {
    /// The program whose outputs are the values that are asked for, up to the last of them: what comes later need not have a value.
    fn program(&self) -> Result<Program, Failure> {
        let outputs: Vec<NodeId> = self.nodes.iter().map(|id| self.lowered.values[*id]).collect();
        let program = &self.lowered.program;
        let last = outputs.iter().copied().max().unwrap_or_default().max(program.input());
        Program::new(program.nodes()[..=last].to_vec(), outputs)
            .map_err(|_| Rejection::from(Reason::Internal("a program without outputs")).into())
    }

    /// Refuses a point of another width than the input.
    fn holds(&self, coordinates: usize) -> Result<(), Failure> {
        let input = &self.graph.nodes()[self.graph.input_id()];
        if coordinates == input.width() {
            return Ok(());
        }
        let (shape, width) = (input.shape(), input.width());
        Err(Failure::Usage(format!("the point has {coordinates} numbers, and the input, of shape {shape:?}, {width}")))
    }

    /// The graph node that a program node belongs to.
    fn name(&self, node: NodeId) -> String {
        let id = self.lowered.values.iter().position(|value| *value >= node).unwrap_or_default();
        format!("node {id} ({})", self.graph.nodes()[id].kind())
    }

    /// Why there are no balls: the first node without them.
    fn unenclosed(&self, point: &[Rational], bits: u64) -> Failure {
        let nodes = self.lowered.program.nodes();
        let (mut good, mut bad) = (self.lowered.program.input(), nodes.len().saturating_sub(1));
        while bad > good + 1 {
            let middle = good.midpoint(bad);
            let part = Program::new(nodes[..=middle].to_vec(), vec![middle]);
            match part.ok().and_then(|part| part.enclose(point, bits)) {
                Some(_) => good = middle,
                None => bad = middle,
            }
        }
        Failure::Import(format!("{}: a value is not shown to be defined at the point, or too large", self.name(bad)))
    }

    fn probed(&self, probe: &Probe, bits: u64) -> Result<Comparison, Failure> {
        let (found, wanted) = (probe.y.len(), self.lowered.program.output_width());
        if found != wanted {
            return Err(Failure::Usage(format!("the probe has {found} outputs, the graph {wanted}")));
        }
        let numbers = probe.compare(&self.graph, &self.lowered, bits).map_err(failed)?;
        let producer = probe.producer.clone().unwrap_or_else(|| "the probe".to_owned());
        Ok(Comparison { format: probe.format, producer, numbers })
    }
}

fn read_probe(path: &Path, limits: &Limits) -> Result<Probe, Failure> {
    let (name, bytes) = input::named(path, limits)?;
    Ok(Probe::read(&bytes, limits).map_err(|rejection| rejection.in_file(&name))?)
}

fn failed(failure: certkern_cudakern::Failure) -> Failure {
    Failure::Import(failure.to_string())
}

/// The values in floats.
fn floats<T: Number>(program: &Program, point: &[Rational]) -> Result<Vec<T>, Failure> {
    let layout = Layout::<T>::new(program).map_err(failed)?;
    let point = point.iter().map(|x| T::nearest(x).ok_or(certkern_cudakern::Failure::Range));
    let point = point.collect::<Result<Vec<T>, _>>().map_err(failed)?;
    Cpu.run(&layout, &point).map_err(failed)
}

fn shown_floats<T: Number + std::fmt::Debug>(values: &[T]) -> Vec<Value> {
    values.iter().map(|value| Value::Float(format!("{value:?}"))).collect()
}

/// The numbers that floats are; `None` for those that are none.
fn rational<T: Number>(values: &[T]) -> Vec<Option<Rational>> {
    let exact = |value: &T| Dyadic::from_f64_bits(value.wide().to_bits()).map(|value| value.to_rational());
    values.iter().map(exact).collect()
}
