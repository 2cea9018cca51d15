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
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    (0..count).for_each(|seed| target.seed(seed));
    println!("{}", line(name));
}

/// At least so many of `what` for a thousand runs: a target that stops at the readers tests little.
fn share(name: &str, what: &str, least: u64) {
    let (found, runs) = (counted(name, what), counted(name, "runs"));
    assert!(found * 1000 >= least * runs, "{name}: {what} {found} times in {runs} runs; {}", line(name));
}

#[test]
fn false_claims_of_kind_leaves() {
    seeds("soundness", 6000);
    for (what, least) in [("entry leaf.unproved", 700), ("accepted", 60), ("witness accepted", 15)] {
        share("soundness", what, least);
    }
}

#[test]
fn false_claims_of_kind_bound() {
    seeds("soundness_bound", 3000);
}

#[test]
fn false_claims_of_kind_enclosure() {
    seeds("soundness_enclosure", 6000);
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
