//! `cargo xtask test`: everything that CI runs, in stages, each with its share of minutes. Beside it, what CI cannot run: live runs of
//! α,β-CROWN, and measurements.

mod bench;
mod code_lines;
mod coverage;
mod fuzz;
mod inari;
mod licences;
mod lines;
mod live;
mod machine_paths;
mod members;
mod mutants;
mod planted;
mod python;
mod sources;
mod stage;
mod trust;

use stage::{Stage, Tally};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask test [STAGE]
                            everything that CI runs, or the stages with STAGE in their names
       cargo xtask lines    lines of code of the kernel
       cargo xtask coverage run the tests that exercise the kernel, instrumented: which of its lines run (docs/testing.md)
       cargo xtask trust    compare the kernel's dependencies with docs/trust.md
       cargo xtask planted [NAME]
                            plant the bugs of tests/planted in a copy of the kernel, one at a time; the tests must catch each
       cargo xtask mutants [--area rules|rest] [--seed N] [--sample K] [--list] [--missed]
                            try a seeded sample of cargo-mutants' changes to the kernel (docs/testing.md); --missed tries those again
                            that no test caught
       cargo xtask fuzz [--seconds N] [--runs N] [--target NAME] [--jobs N] [--asan | --minimise]
                            run the targets of fuzz/ under libFuzzer, each for N seconds (20) or N executions, as many at a time as
                            there are jobs (1); --asan with AddressSanitizer (docs/testing.md); --minimise adds to fuzz/corpus what
                            earlier runs of the readers reached and no input there does
       cargo xtask certmutants [--count N] [--seed S] [--threads T] [--boxes B] [--keep FOLDER [--reference PYTHON]]
                            N mutants of the certificates of certs/accept: each must be refused, or is shown apart to be still true
                            (docs/testing.md); --keep writes those for which that fails, and Python's reference judges them
       cargo xtask bench [--quick] [--only NAME] [--pairs N] [--python P] [--json OUT]
                            measure how fast is checked (bench/, docs/numbers.md); --quick takes less than 40 seconds
       cargo xtask bounds PATH [--python P] [--exact] [--only NAME]
                            compare bounds of networks with S-shaped functions with those of auto_LiRPA in the checkout of
                            α,β-CROWN in PATH, by the interpreter P (docs/numbers.md); --exact measures the exact tier too
       cargo xtask live-abcrown PATH [--python P]
                            run certs/live by the checkout of α,β-CROWN in PATH with the interpreter P (python3) of an
                            environment in which it works; import and check what comes of it";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = root();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => return test(&root, ""),
        ["test", name] => return test(&root, name),
        ["lines"] => lines::check(&root),
        ["coverage"] => coverage::run(&root),
        ["trust"] => trust::check(&root),
        ["planted"] => planted::run(&root, ""),
        ["planted", name] => planted::run(&root, name),
        ["mutants", arguments @ ..] => mutants::run(&root, arguments),
        ["fuzz", arguments @ ..] => fuzz::run(&root, arguments),
        ["certmutants", arguments @ ..] => bench::certmutants(&root, arguments),
        ["bench", arguments @ ..] => bench::run(&root, arguments),
        ["bounds", checkout, arguments @ ..] => bench::bounds(&root, checkout, arguments),
        ["live-abcrown", checkout] => live::run(&root, checkout, "python3"),
        ["live-abcrown", checkout, "--python", python] => live::run(&root, checkout, python),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the stages with `name` in their names, after a failed one too, and ends with the sum.
fn test(root: &Path, name: &str) -> ExitCode {
    let mut stages = vec![
        Stage::command(root, "format", 1.0, &["fmt", "--all", "--check"]),
        Stage::command(
            root,
            "clippy",
            6.0,
            &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"],
        ),
        Stage::command(
            root,
            "build",
            6.0,
            // What `bench/` asks of the kernel is for measurements alone.
            &["build", "--locked", "--release", "--workspace", "--exclude", "certkern-bench"],
        ),
        Stage::command(root, "doc", 3.0, &["doc", "--locked", "--workspace", "--no-deps"]),
        Stage::check("lines", 1.0, || lines::check(root)),
        Stage::check("dependencies", 1.0, || trust::check(root)),
        Stage::check("licences", 8.0, || licences::check(root)),
        Stage::check("sources", 1.0, || sources::check(root)),
        Stage::check("machine paths", 1.0, || machine_paths::check(root)),
        Stage::check("planted bugs", 1.0, || planted::check(root)),
        Stage::check("members", 1.0, || members::all_are_known(root)),
    ];
    stages.extend(members::MEMBERS.iter().map(|member| member.stage(root)));
    stages.push(fuzz::stage(root));
    stages.push(inari::stage(root));
    stages.extend([python::stage(root), python::torch_stage(root)]);
    stages.retain(|stage| stage.name.contains(name));
    if stages.is_empty() {
        eprintln!("no stage has `{name}` in its name");
        return ExitCode::FAILURE;
    }
    let mut tally = Tally::default();
    for stage in stages {
        tally.run(stage);
    }
    print!("{}", tally.table());
    if tally.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Cargo in the root of the repository, without input and strict about warnings in documentation.
fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).env("RUSTDOCFLAGS", "-D warnings").stdin(std::process::Stdio::null());
    command
}

/// What cargo writes to standard output.
///
/// # Errors
/// If it cannot be run or fails.
fn output_of_cargo(root: &Path, arguments: &[&str]) -> Result<String, String> {
    output_of(cargo(root).args(arguments))
}

/// What a command writes to standard output.
///
/// # Errors
/// If it cannot be run or fails.
fn output_of(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The files that git tracks, from the root of the repository.
///
/// # Errors
/// If git cannot be run or fails.
fn tracked_files(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
