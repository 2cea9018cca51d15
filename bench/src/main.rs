//! Untrusted: generated workloads and how fast they are checked. `cargo xtask bench` runs this; `docs/numbers.md` says how it measures.

mod bounds;
mod bundle;
mod children;
mod crown;
mod dense;
mod functions;
mod oval;
mod pairs;
mod payload;
mod random;
mod residual;
mod row;
mod sample;
mod statistics;
mod store;
mod tree;
mod workloads;

use bundle::{Bundle, Said};
use certkern_claims::Arith;
use pairs::Driver;
use row::Row;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use workloads::{Form, Workload};

const USAGE: &str = "\
usage: certkern-bench [--quick] [--only PART OF A NAME] [--pairs N] [--python P] [--json OUT] --checker CERTKERN
                      measure; a table on standard output, and a list of objects in OUT";

/// How the measurements are made.
pub(crate) struct Options {
    quick: bool,
    only: String,
    /// How many pairs, at least, each ratio is the median of.
    pub(crate) pairs: usize,
    pub(crate) python: PathBuf,
    json: Option<PathBuf>,
    pub(crate) checker: PathBuf,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        // These run in processes of their own, so that this one stays small and the memory of the others is theirs.
        ["make", name, quick, checker] => make(name, *quick == "true", Path::new(checker)),
        ["pairs", folder, form, pairs, quick] => {
            pairs_of(Path::new(folder), form, pairs.parse().unwrap_or(15), *quick == "true")
        }
        ["floor", file] => payload::floor(Path::new(file)).map_err(|error| error.to_string()).map(|(read, digest)| {
            println!("{}", json!({"read_s": read, "digest_s": digest}));
        }),
        ["bounds", checkout, python, only, exact] => {
            bounds::measure(Path::new(checkout), Path::new(python), only, *exact == "true")
        }
        arguments => options(arguments).and_then(|options| measure(&options)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

fn options(arguments: &[&str]) -> Said<Options> {
    let mut options = Options {
        quick: false,
        only: String::new(),
        pairs: 15,
        python: "python3".into(),
        json: None,
        checker: PathBuf::new(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} wants a value\n{USAGE}"));
        match *argument {
            "--quick" => options.quick = true,
            "--only" => options.only = (*value()?).to_owned(),
            "--pairs" => options.pairs = value()?.parse().map_err(|error| format!("--pairs: {error}"))?,
            "--python" => options.python = value()?.into(),
            "--json" => options.json = Some(value()?.into()),
            "--checker" => options.checker = value()?.into(),
            other => return Err(format!("{other}?\n{USAGE}")),
        }
    }
    if options.checker.as_os_str().is_empty() { Err(USAGE.to_owned()) } else { Ok(options) }
}

impl Options {
    pub(crate) fn is_quick(&self) -> String {
        self.quick.to_string()
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where workloads lie while they are measured.
pub(crate) fn folder(name: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    root().join("target/bench").join(name.chars().map(plain).collect::<String>())
}

fn measure(options: &Options) -> Said<()> {
    let shared = root().join("../shared");
    let mut rows: Vec<Row> = Vec::new();
    let mut wanted = workloads::all(options.quick);
    wanted.retain(|workload| workload.name.contains(&options.only));
    for workload in &wanted {
        if workload.is_shared() && !shared.is_dir() {
            eprintln!("{}: SKIPPED: ../shared is absent", workload.name);
            continue;
        }
        let folder = folder(workload.name);
        remove(&folder)?;
        eprintln!("{} …", workload.name);
        let found = own(&["make", workload.name, &options.is_quick(), &shown(&options.checker)])
            .and_then(|_| row::measure(workload, &folder, options));
        remove(&folder)?;
        rows.push(found.map_err(|error| format!("{}: {error}", workload.name))?);
        eprintln!("{}", rows[rows.len() - 1].line());
    }
    let enclosures = functions::measure(options)?;
    if !rows.is_empty() {
        print!("{}", row::table(&rows));
    }
    print!("{}", functions::table(&enclosures));
    let Some(path) = &options.json else { return Ok(()) };
    let objects = rows.iter().map(Row::json).chain(enclosures.iter().map(functions::Row::json)).collect();
    fs::write(path, format!("{:#}\n", Value::Array(objects))).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn remove(folder: &Path) -> Said<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    }
}

pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Runs this program with other arguments; gives what it prints.
pub(crate) fn own(arguments: &[&str]) -> Said<Value> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let run = children::run(Command::new(program).args(arguments))?;
    serde_json::from_str(&run.output).map_err(|error| format!("{arguments:?}: {error}: {}", run.output))
}

fn make(name: &str, quick: bool, checker: &Path) -> Said<()> {
    let workload: Option<Workload> = workloads::all(quick).into_iter().find(|workload| workload.name == name);
    let workload = workload.ok_or_else(|| format!("no workload {name}"))?;
    fs::create_dir_all(root().join("target/bench")).map_err(|error| error.to_string())?;
    workload.write(&folder(name), &root().join("../shared"), checker)?;
    println!("null");
    Ok(())
}

/// Pairs of passes of the filter and what the exact tier takes for a sample.
fn pairs_of(folder: &Path, form: &str, pairs: usize, quick: bool) -> Said<()> {
    let bundle = Bundle::open(folder)?;
    let driver = Driver::new(&bundle)?;
    // Enough leaves that a pair takes tens of milliseconds.
    let leaves = bundle.leaves();
    let (found, exact) = match form {
        "leaves" => {
            let found = driver.leaves(pairs, 512, 1)?;
            let (exact, _) = sample::sample(folder, Arith::Exact, if quick { 200 } else { 2_000 }, 2)?;
            (found, exact * leaves as f64)
        }
        "rows" => (driver.rows(1, if quick { 4 } else { 3 }, 1)?, driver.exact_rows(if quick { 2 } else { 6 }, 2)?),
        _ => {
            let found = driver.rows(pairs, usize::MAX, 1)?;
            let (exact, _) = sample::sample(folder, Arith::Exact, leaves, 2)?;
            (found, exact * leaves as f64)
        }
    };
    let product = if form == "boxes" { Some(sample::sample(folder, Arith::Auto, leaves, 2)?.0) } else { None };
    println!(
        "{}",
        json!({
            "leaves": leaves, "bytes": bundle.bytes, "seconds": found.seconds, "units": found.units, "decided": found.decided,
            "rows": found.rows, "root_s": found.root, "exact_s": exact, "product_s": product,
        })
    );
    Ok(())
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Leaves => "leaves",
            Self::Rows => "rows",
            Self::Boxes => "boxes",
            Self::Payload => "payload",
        }
    }
}
