//! All corpora through the bodies of their targets, and targets that make up their own inputs on some thousand seeds.

use certkern_fuzz::{TARGETS, Target, counted, line};
use std::fs;
use std::path::{Path, PathBuf};

fn corpus(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target.name)
}

#[test]
fn corpora() {
    for target in TARGETS {
        let folder = corpus(target);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        inputs.sort();
        assert!(inputs.len() > 4, "{}: {} inputs", target.name, inputs.len());
        for path in inputs {
            println!("{}", path.display());
            target.run(&fs::read(path).unwrap());
        }
    }
}

fn seeds(name: &str, count: u64) {
    let target = TARGETS.iter().find(|target| target.name == name).expect(name);
    (0..count).for_each(|seed| target.seed(seed));
    println!("{}", line(name));
}

/// At least so many of `what` for a thousand runs: a target that stops at the readers tests little.
fn share(name: &str, what: &str, least: u64) {
    let (found, runs) = (counted(name, what), counted(name, "runs"));
    assert!(found * 1000 >= least * runs, "{name}: {what} {found} times in {runs} runs; {}", line(name));
}

/// Tries of a target, and of how many in a thousand each of these outcomes must come at least.
fn tries(target: &str, count: u64, outcomes: &[(&str, u64)]) {
    seeds(target, count);
    for (what, least) in outcomes {
        share(target, what, *least);
    }
}

#[test]
fn false_claims_of_kind_leaves() {
    tries("soundness", 6000, &[("entry leaf.unproved", 700), ("accepted", 60), ("witness accepted", 15)]);
}

#[test]
fn false_claims_of_kind_bound() {
    tries("soundness_bound", 3000, &[("entry leaf.unproved", 700), ("accepted", 60)]);
}

#[test]
fn false_claims_of_kind_nodes() {
    tries("soundness_nodes", 3000, &[("entry leaf.unproved", 700), ("accepted", 60)]);
}

#[test]
fn false_claims_of_kind_monotone() {
    tries("soundness_monotone", 6000, &[("accepted", 200), ("falls monotone.unproved", 100)]);
}

#[test]
fn false_claims_of_kind_enclosure() {
    tries("soundness_enclosure", 6000, &[("accepted", 100), ("enclosure.refuted", 300)]);
}

#[test]
fn programs_mean_what_the_graphs_mean() {
    seeds("lowering", 10000);
}

#[test]
fn numbers() {
    seeds("arith", 6000);
}

#[test]
fn functions() {
    seeds("func", 4000);
}
