//! The binary `certkern`: arguments, files, progress, printing, exit codes. What is true is decided in the kernel; here it is printed.

mod budget;
mod check;
mod digest;
mod eval;
mod export;
mod failure;
mod folder;
mod import;
mod input;
mod network;
mod oracle;
mod outcome;
mod output;
mod own_files;
mod parts;
mod probes;
mod progress;
mod source;
mod streamed;
mod trust;
mod witness;

use clap::{Parser, Subcommand, ValueEnum};
use failure::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
   0  accepted: the kernel proved the proposition
   1  rejected: well formed and bound, not proved with these hints, or refuted
   2  rejected: the bytes are not a certificate of this claim
   3  limit: a named budget was exceeded
  64  usage: wrong arguments, or a file that cannot be read or written
  70  internal error: no verdict

Standard output holds the result; progress and complaints go to standard error.";

const EXAMPLES: &str = "\
Examples:
  certkern check bundle/ --onnx net.onnx --property spec.vnnlib
  certkern witness net.onnx spec.vnnlib result.counterexample
  certkern eval net.onnx --at point.json
  certkern oracle query.json
  certkern import abcrown dump/ --onnx net.onnx --property spec.vnnlib -o bundle
  certkern import torchlean query.json -o bundle
  certkern import onnx net.onnx -o net
  certkern export torch net/graph.json net/payload.safetensors -o model
  certkern digest bundle/
  certkern trust leaves";

/// Checks certificates about neural networks and real functions in arithmetic that cannot lie.
#[derive(Parser)]
#[command(name = "certkern", version, after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a certificate: a bundle (a folder), or a graph or an enclosure in one JSON document
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", check::HELP))]
    Check(check::Check),
    /// Check a counterexample: whether it lies in the box and violates the property, exactly, and by how much not
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", witness::HELP))]
    Witness(witness::Witness),
    /// Print the values of a network at a point: exactly, in balls, or in floats beside them
    #[command(after_help = eval::HELP)]
    Eval(eval::Eval),
    /// Let a tool, such as Arb, answer a query about values of functions, and check its answer
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", oracle::HELP))]
    Oracle(oracle::Oracle),
    /// Turn what other programs left behind into documents that can be checked
    #[command(subcommand)]
    Import(import::Import),
    /// Write a graph as a network of another program
    #[command(subcommand)]
    Export(export::Export),
    /// Print the digests of documents, computed from their bytes
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", digest::HELP))]
    Digest(digest::Digest),
    /// Print what a verdict of a kind rests on, with lines of code
    #[command(after_help = trust::HELP)]
    Trust(trust::Trust),
}

/// How a result is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| output::complain(&format!("internal error, please report it: {panic}"))));
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A reader that has gone needs no help text.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { failure::USAGE } else { 0 });
        }
    };
    ExitCode::from(guarded(|| match &arguments.command {
        Command::Check(check) => check.run(),
        Command::Witness(witness) => witness.run(),
        Command::Eval(eval) => eval.run(),
        Command::Oracle(oracle) => oracle.run(),
        Command::Import(import) => import.run(),
        Command::Export(export) => export.run(),
        Command::Digest(digest) => digest.run(),
        Command::Trust(trust) => trust.run(),
    }))
}

/// The exit code of a command; a panic is an internal error and never a verdict.
fn guarded(command: impl FnOnce() -> Result<u8, Failure>) -> u8 {
    match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            output::complain(&failure.to_string());
            failure.exit_code()
        }
        Err(_) => failure::INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("on purpose")), 70);
        assert_eq!(guarded(|| Err(Failure::Usage("on purpose".to_owned()))), 64);
        assert_eq!(guarded(|| Ok(3)), 3);
    }

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
