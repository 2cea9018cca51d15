//! Mutants of the accepted certificates: each must be refused, or shown to be still true by what shares nothing with the kernel
//! (`docs/testing.md`, "Mutated certificates").

mod bundle;
mod campaign;
mod json;
mod mutate;
mod number;
mod random;
mod report;
mod statement;
#[cfg(test)]
mod tests;
mod tensors;
mod truth;

use bundle::Kernel;
use campaign::{Outcome, Plan};
use certkern_claims::Arith;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truth::Standing;

const USAGE: &str = "usage: certmutants [--count N] [--seed S] [--threads T] [--boxes B] [--keep FOLDER]";

fn main() -> ExitCode {
    let mut plan = Plan { count: 10_000, seed: 1, threads: 2, boxes: 3000 };
    let mut keep = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let number = value.parse::<usize>();
        match (argument.as_str(), number) {
            ("--count", Ok(count)) => plan.count = count,
            ("--seed", Ok(seed)) => plan.seed = seed as u64,
            ("--threads", Ok(threads)) => plan.threads = threads.max(1),
            ("--boxes", Ok(boxes)) => plan.boxes = boxes,
            ("--keep", _) if !value.is_empty() => keep = Some(PathBuf::from(value)),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::FAILURE;
            }
        }
    }
    run(plan, keep.as_deref())
}

/// The accepted certificates of the repository.
fn accept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../certs/accept")
}

fn run(plan: Plan, keep: Option<&Path>) -> ExitCode {
    let cases = campaign::cases(&accept());
    let [unproved, misnamed] = campaign::originals(&cases, &Kernel(Arith::Auto), plan.boxes);
    println!("{} cases; not proved apart: {}", cases.len(), unproved.join(", "));
    if !misnamed.is_empty() {
        println!("not accepted under the name that their documents have: {}", misnamed.join(", "));
        return ExitCode::FAILURE;
    }
    std::panic::set_hook(Box::new(|_| ()));
    let result = campaign::run(&cases, &Kernel(Arith::Auto), plan);
    drop(std::panic::take_hook());
    println!("{}", report::table(&result));
    for (place, kept) in result.kept.iter().enumerate() {
        println!("{}\n{}", report::line(kept), report::difference(kept, &cases));
        if let Some(folder) = keep {
            let folder = folder.join(format!("{place:04}"));
            if let Err(error) = write(&folder, kept) {
                eprintln!("{}: {error}", folder.display());
                return ExitCode::FAILURE;
            }
        }
    }
    let sampled = result.number(|outcome| *outcome == Outcome::Accepted(Standing::Sampled));
    println!("{} mutants, {} wrong, {sampled} only sampled", result.mutants, result.wrong());
    if result.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn write(folder: &Path, kept: &campaign::Kept) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, bytes) in &kept.bundle.files {
        let name = if name.is_empty() { "document.json" } else { name };
        std::fs::write(folder.join(name.replace('/', "_")), bytes)?;
    }
    Ok(())
}
