//! Mutants of the accepted certificates: each must be refused, or shown to be still true by what shares nothing with the kernel
//! (`docs/testing.md`, "Mutated certificates").

mod bundle;
mod campaign;
mod json;
mod margin;
mod mutate;
mod number;
mod random;
mod report;
mod statement;
mod tensors;
#[cfg(test)]
mod tests;
mod truth;

use bundle::{Checker, Kernel, Said};
use campaign::{Outcome, Plan};
use certkern_claims::Arith;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use truth::Standing;

const USAGE: &str = "\
usage: certmutants [--count N] [--seed S] [--threads T] [--boxes B] [--keep FOLDER [--reference PYTHON] [--draw N]]
       --keep FOLDER writes the accepted mutants of which no proof was found
       --reference PYTHON has them judged in exact arithmetic and by the reference in Python
       --draw N writes the mutant of one draw instead
       --count 0 says what room the claims of kind leaves have, by the kernel";

fn main() -> ExitCode {
    let Some(Told { plan, keep, reference, draw }) = told(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match (draw, keep) {
        (Some(draw), Some(folder)) => one(plan.seed, draw, &folder),
        (_, keep) => run(plan, keep.as_deref(), reference.as_deref()),
    }
}

/// What the command line tells.
struct Told {
    plan: Plan,
    keep: Option<PathBuf>,
    reference: Option<String>,
    draw: Option<u64>,
}

/// Reads the command line; `None` if it cannot be followed. The reference and a single draw work on folders, so that both need one.
fn told(mut arguments: impl Iterator<Item = String>) -> Option<Told> {
    let plan = Plan { count: 10_000, seed: 1, threads: 2, boxes: 4000 };
    let mut told = Told { plan, keep: None, reference: None, draw: None };
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match (argument.as_str(), value.parse::<usize>()) {
            ("--count", Ok(count)) => told.plan.count = count,
            ("--seed", Ok(seed)) => told.plan.seed = seed as u64,
            ("--threads", Ok(threads)) => told.plan.threads = threads.max(1),
            ("--draw", Ok(number)) => told.draw = Some(number as u64),
            ("--boxes", Ok(boxes)) => told.plan.boxes = boxes,
            ("--reference", _) if !value.is_empty() => told.reference = Some(value),
            ("--keep", _) if !value.is_empty() => told.keep = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    (told.keep.is_some() || told.reference.is_none() && told.draw.is_none()).then_some(told)
}

/// Writes the mutant of one draw.
fn one(seed: u64, draw: u64, folder: &Path) -> ExitCode {
    match campaign::drawn(&campaign::cases(&accept()), seed, draw).map(|bundle| write(folder, &bundle)) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
        None => {
            eprintln!("this draw makes no mutant");
            ExitCode::FAILURE
        }
    }
}

/// The accepted certificates of the repository.
fn accept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../certs/accept")
}

fn run(plan: Plan, keep: Option<&Path>, reference: Option<&str>) -> ExitCode {
    let cases: &'static [campaign::Case] = campaign::cases(&accept()).leak();
    if plan.count == 0 {
        for case in cases.iter().filter(|case| case.name.starts_with("leaves/")) {
            let shown =
                margin::greatest(case, &Kernel(Arith::Exact)).map_or("none".to_owned(), |margin| margin.to_string());
            println!("{}: {shown}", case.name);
        }
        return ExitCode::SUCCESS;
    }
    let [unproved, misnamed] = campaign::originals(cases, &Kernel(Arith::Auto), plan.boxes);
    println!("{} cases; not proved apart: {}", cases.len(), unproved.join(", "));
    if !misnamed.is_empty() {
        println!("not accepted under the name that their documents have: {}", misnamed.join(", "));
        return ExitCode::FAILURE;
    }
    std::panic::set_hook(Box::new(|_| ()));
    let result = campaign::run(cases, &Kernel(Arith::Auto), plan);
    drop(std::panic::take_hook());
    println!("{}", report::table(&result));
    let mut seconded = 0;
    for (place, kept) in result.kept.iter().enumerate() {
        println!("{}\n{}", report::line(kept), report::difference(kept, cases));
        let Some(folder) = keep else { continue };
        let folder = folder.join(format!("{place:04}"));
        if let Err(error) = write(&folder, &kept.bundle) {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
        if let Some(python) = reference {
            let exact = matches!(Kernel(Arith::Exact).check(&kept.bundle), Said::Accepted(_));
            let said = second(python, &folder);
            println!("  in exact arithmetic: {exact}; by the reference: {said}\n");
            seconded += usize::from(exact && said.starts_with("s ACCEPTED"));
        }
    }
    if reference.is_some() {
        println!("{seconded} of these are accepted in exact arithmetic and by the reference in Python");
    }
    let sampled = result.number(|outcome| *outcome == Outcome::Accepted(Standing::Sampled));
    println!("{} mutants, {} wrong, {sampled} only sampled", result.mutants, result.wrong());
    if result.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn write(folder: &Path, bundle: &bundle::Bundle) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, bytes) in &bundle.files {
        let name = if name.is_empty() { "document.json" } else { name };
        std::fs::write(folder.join(name.replace('/', "_")), bytes)?;
    }
    Ok(())
}

/// What the reference in Python says of a folder.
fn second(python: &str, folder: &Path) -> String {
    let oracles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/python");
    let Ok(folder) = folder.canonicalize() else { return "no folder".to_owned() };
    match Command::new(python).args(["-m", "certkern_oracles.reference"]).arg(folder).current_dir(oracles).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or("nothing").to_owned(),
        Err(error) => error.to_string(),
    }
}
