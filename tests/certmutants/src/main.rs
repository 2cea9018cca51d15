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
usage: certmutants [--count N] [--seed S] [--threads T] [--boxes B] [--keep FOLDER] [--reference PYTHON] [--draw N]
       --draw N writes the mutant of one draw into the folder --keep
       --count 0 says what room the claims of kind leaves have, by the kernel";

fn main() -> ExitCode {
    let mut plan = Plan { count: 10_000, seed: 1, threads: 2, boxes: 4000 };
    let (mut keep, mut reference, mut draw) = (None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let number = value.parse::<usize>();
        match (argument.as_str(), number) {
            ("--count", Ok(count)) => plan.count = count,
            ("--seed", Ok(seed)) => plan.seed = seed as u64,
            ("--threads", Ok(threads)) => plan.threads = threads.max(1),
            ("--draw", Ok(number)) => draw = Some(number as u64),
            ("--boxes", Ok(boxes)) => plan.boxes = boxes,
            ("--reference", _) if !value.is_empty() => reference = Some(value),
            ("--keep", _) if !value.is_empty() => keep = Some(PathBuf::from(value)),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::FAILURE;
            }
        }
    }
    match (draw, keep) {
        (Some(draw), Some(folder)) => one(plan.seed, draw, &folder),
        (_, keep) => run(plan, keep.as_deref(), reference.as_deref()),
    }
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
