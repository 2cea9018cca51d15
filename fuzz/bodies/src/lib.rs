//! What the fuzz targets in `fuzz/fuzz_targets` run. Each is a function of bytes that panics where something is wrong; the tests of this crate run
//! all of them on the corpora in `fuzz/corpus`, and those that make up their own inputs on some thousand seeds.

mod arith;
mod func;
mod grow;
mod lowering;
pub mod meaning;
pub mod net;
mod readers;
mod roundtrip;
mod soundness;
mod source;
mod tally;

pub use readers::packed;
pub use tally::{counted, line};

use certkern_wire::Limits;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is that of its folder in `fuzz/corpus` too.
    pub name: &'static str,
    /// What it does; it panics where something is wrong.
    pub body: fn(&[u8]),
    /// Whether any bytes are a whole input, which a generator makes of them.
    pub generates: bool,
}

const fn reads(name: &'static str, body: fn(&[u8])) -> Target {
    Target { name, body, generates: false }
}

const fn generates(name: &'static str, body: fn(&[u8])) -> Target {
    Target { name, body, generates: true }
}

/// Every target.
pub const TARGETS: &[Target] = &[
    generates("soundness", soundness::leaves),
    generates("soundness_bound", soundness::bound),
    generates("soundness_nodes", soundness::nodes),
    generates("soundness_enclosure", soundness::enclosure),
    generates("soundness_monotone", soundness::monotone),
    generates("lowering", lowering::body),
    generates("arith", arith::body),
    generates("func", func::body),
    reads("json", readers::json),
    reads("tensors", readers::tensors),
    reads("vnnlib", readers::vnnlib),
    reads("onnx", readers::onnx),
    reads("graph", readers::graph),
    reads("bundle", readers::bundle),
    reads("enclosure", readers::enclosure),
    reads("roundtrip", roundtrip::body),
];

/// Runs a target on an input, and says from time to time what its runs have come to.
///
/// # Panics
/// Where something is wrong, or there is no such target.
pub fn run(name: &'static str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("no target {name}")).run(data);
    let runs = counted(name, "runs");
    if runs.is_power_of_two() || runs.is_multiple_of(1 << 15) {
        eprintln!("{}", line(name));
    }
}

impl Target {
    /// Runs the body and counts the run.
    pub fn run(&self, data: &[u8]) {
        (self.body)(data);
        tally::count(self.name, "runs");
    }

    /// Runs a target that makes up its own inputs on bytes that this number seeds.
    ///
    /// # Panics
    /// Where something is wrong, or the target reads what it is given.
    pub fn seed(&self, seed: u64) {
        assert!(self.generates, "{} wants an input", self.name);
        self.run(&source::seeded(seed));
    }
}

/// Budgets that keep an input within milliseconds.
fn limits() -> Limits {
    Limits {
        json_values: 20_000,
        digits: 1200,
        nodes: 200,
        elements: 1 << 14,
        graph_elements: 1 << 12,
        // A long number counts for thousands of short ones, and what is written has few of either.
        variables: 2_000_000,
        disjuncts: 200,
        rows: 100_000,
        expression_nodes: 200,
        expression_bits: 1 << 16,
        precision: 512,
        tree_nodes: 1000,
        tree_depth: 40,
        path_elements: 1 << 12,
        tensors: 500,
        ..Limits::default()
    }
}
