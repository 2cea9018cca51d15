//! `cargo xtask live-abcrown`: the cases of `certs/live` run afresh by a checkout of α,β-CROWN, converted and checked.

use crate::cargo;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What α,β-CROWN reads of a case.
const INPUTS: [&str; 3] = ["config.yaml", "net.onnx", "property.vnnlib"];

/// A case after its run: how many leaves the kernel counted, how long the search took with its start, the last line of the check.
struct Row {
    case: String,
    leaves: String,
    seconds: f64,
    line: String,
}

/// Runs every case, and gives a table.
///
/// # Errors
/// The table, or what a failed program said, if a case is not accepted.
pub(crate) fn run(root: &Path, checkout: &str, python: &str) -> Result<String, String> {
    let checkout = fs::canonicalize(checkout).map_err(|error| format!("{checkout}: {error}"))?;
    let live = root.join("certs/live");
    let listed = fs::read_dir(&live).map_err(|error| format!("{}: {error}", live.display()))?;
    let mut cases: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    cases.sort();
    let mut rows = Vec::new();
    for case in &cases {
        rows.push(run_case(root, case, &checkout, &interpreter(python)?)?);
    }
    judge(&rows)
}

/// A name that is looked up, or a path from here: the search runs elsewhere. Links stay, for those of a virtual environment matter.
pub(crate) fn interpreter(python: &str) -> Result<PathBuf, String> {
    if Path::new(python).components().count() == 1 {
        return Ok(python.into());
    }
    std::path::absolute(python).map_err(|error| format!("{python}: {error}"))
}

fn judge(rows: &[Row]) -> Result<String, String> {
    let mut table = format!("{:<20} {:>6} {:>8}  s line", "case", "leaves", "seconds");
    for Row { case, leaves, seconds, line } in rows {
        let _ = write!(table, "\n{case:<20} {leaves:>6} {seconds:>8.1}  {line}");
    }
    let accepted = |row: &Row| row.line.starts_with("s ACCEPTED unsat ");
    if !rows.is_empty() && rows.iter().all(accepted) {
        Ok(table)
    } else {
        Err(format!("{table}\nnot all are accepted"))
    }
}

/// Works on copies: α,β-CROWN leaves files beside the property and in the folder where it runs.
fn run_case(root: &Path, case: &Path, checkout: &Path, python: &Path) -> Result<Row, String> {
    let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let work = root.join("target/live-abcrown").join(&name);
    prepare(case, &work).map_err(|error| format!("{}: {error}", work.display()))?;
    println!("{name} …");
    let mut search = Command::new(python);
    search.args(["-m", "certkern_oracles.abcrown", "--out", "dump", "--abcrown"]).arg(checkout);
    search.args(["--", "--config", "config.yaml", "--onnx_path", "net.onnx", "--vnnlib_path", "property.vnnlib"]);
    search.current_dir(&work).env("PYTHONPATH", root.join("oracles/python")).stdin(Stdio::null());
    let start = Instant::now();
    said(&mut search)?;
    let seconds = start.elapsed().as_secs_f64();
    let [dump, bundle] = [work.join("dump"), work.join("bundle")];
    let own = |command: &mut Command| {
        command.arg("--onnx").arg(work.join("net.onnx")).arg("--property").arg(work.join("property.vnnlib"));
    };
    let mut import = certkern(root);
    import.args(["import", "abcrown"]).arg(dump).arg("-o").arg(&bundle);
    own(&mut import);
    said(&mut import)?;
    let mut check = certkern(root);
    check.arg("check").arg(bundle);
    own(&mut check);
    // A rejection is an answer too.
    let output = check.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next_back().unwrap_or("no verdict").to_owned();
    Ok(Row { case: name, leaves: leaves(&text).unwrap_or("-").to_owned(), seconds, line })
}

/// An empty folder with the inputs of a case.
fn prepare(case: &Path, work: &Path) -> std::io::Result<()> {
    if work.exists() {
        fs::remove_dir_all(work)?;
    }
    fs::create_dir_all(work)?;
    INPUTS.iter().try_for_each(|name| fs::copy(case.join(name), work.join(name)).map(drop))
}

/// The checker of this tree.
fn certkern(root: &Path) -> Command {
    let mut command = cargo(root);
    command.args(["run", "--locked", "--release", "--quiet", "-p", "certkern", "--"]);
    command
}

/// Runs a program that must succeed.
fn said(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Err(format!("{out}{err}\n{program}: {}", output.status))
}

/// The number before `leaves` in the line `Counts: 9 disjuncts, 7 trees, 118 leaves, …`.
fn leaves(text: &str) -> Option<&str> {
    let counts = text.lines().find_map(|line| line.strip_prefix("Counts: "))?;
    counts.split(", ").find_map(|count| count.strip_suffix(" leaves"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        Row { case: "some".to_owned(), leaves: "12".to_owned(), seconds: 3.25, line: line.to_owned() }
    }

    #[test]
    fn every_case_must_be_accepted() {
        let good = || row("s ACCEPTED unsat 00ff");
        let table = judge(&[good(), good()]).unwrap();
        assert_eq!(table.lines().nth(1), Some("some                     12      3.2  s ACCEPTED unsat 00ff"));
        assert!(judge(&[good(), row("s REJECTED leaf.unproved")]).is_err());
        assert!(judge(&[row("s ACCEPTED sat 00ff")]).is_err());
        assert!(judge(&[]).is_err());
    }

    #[test]
    fn leaves_are_read_from_the_counts() {
        let text = "Shown:\nCounts: 9 disjuncts, 7 trees, 118 leaves, 120 entries.\ns ACCEPTED unsat 00ff\n";
        assert_eq!(leaves(text), Some("118"));
        assert_eq!(leaves("s REJECTED leaf.unproved\n"), None);
    }

    #[test]
    fn a_name_is_looked_up_and_a_path_is_from_here() {
        assert_eq!(interpreter("python3").unwrap(), Path::new("python3"));
        assert!(interpreter("venv/bin/python").unwrap().is_absolute());
    }
}
