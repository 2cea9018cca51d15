//! One workload, measured: a row of the table.

use crate::bundle::Said;
use crate::children::{self, Server, check};
use crate::statistics::Spread;
use crate::workloads::{Form, Workload};
use crate::{Options, own, root, shown};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

/// What was measured. Seconds are those of the processor, but for whole checks on many threads, which are those of the clock. Seconds of passes are those of the whole workload; `_s` without further words is the pass alone, after reading: the leaf
/// pass of workloads with many leaves, the bounds of the root of those with one.
#[derive(Debug, Default)]
pub(crate) struct Row {
    name: String,
    search: Option<&'static str>,
    leaves: usize,
    /// Rows of bounds at the root, or in one sampled box.
    rows: usize,
    bytes: u64,
    plain: Option<f64>,
    filter: Option<f64>,
    numpy: Option<f64>,
    exact: Option<f64>,
    /// filter over plain, by pairs of passes.
    filter_plain: Option<Spread>,
    /// Whole checks on one thread, start and reading included, and the whole of the replay without the start of its interpreter.
    check: Option<f64>,
    numpy_whole: Option<f64>,
    /// check over numpy, by pairs of runs.
    filter_numpy: Option<Spread>,
    /// A whole check on all cores.
    check_all: Option<f64>,
    /// One thread over two, by pairs of runs.
    two_threads: Option<Spread>,
    /// Share of the entries that the filter closed.
    decided: Option<f64>,
    peak_mb: f64,
    /// Megabytes a second of reading and digesting, and of SHA-256 alone.
    digest: Option<(f64, f64)>,
    remark: String,
}

/// Measures one workload that lies in `folder`.
///
/// # Errors
/// If a program fails, a check does not accept, or numpy and the checker do not agree.
pub(crate) fn measure(workload: &Workload, folder: &Path, options: &Options) -> Said<Row> {
    let mut row = Row { name: workload.name.to_owned(), search: workload.search, ..Row::default() };
    if workload.form == Form::Payload {
        row.payload(folder, options)?;
        return Ok(row);
    }
    row.passes(workload.form, folder, options)?;
    row.whole(workload.form, folder, options)?;
    Ok(row)
}

impl Row {
    fn passes(&mut self, form: Form, folder: &Path, options: &Options) -> Said<()> {
        let pairs = options.pairs.to_string();
        let found = own(&["pairs", &shown(folder), form.name(), &pairs, &options.is_quick()])?;
        let number = |name: &str| found[name].as_f64().unwrap_or_default();
        let seconds: Vec<[f64; 2]> = found["seconds"].as_array().into_iter().flatten().filter_map(pair).collect();
        self.filter_plain = Spread::of_ratios(&seconds);
        let ratio = self.filter_plain.ok_or("no pairs")?.median;
        self.leaves = number("leaves") as usize;
        self.rows = number("rows") as usize;
        self.bytes = number("bytes") as u64;
        self.exact = Some(number("exact_s"));
        match form {
            Form::Leaves => {
                let each = |which: usize| Spread::of(seconds.iter().map(|pair| pair[which]).collect());
                let leaves = self.leaves as f64;
                self.plain = each(0).map(|each| each.median * leaves);
                self.filter = each(1).map(|each| each.median * leaves);
            }
            Form::Boxes => {
                self.filter = Some(number("product_s") * self.leaves as f64);
                self.plain = self.filter.map(|filter| filter / ratio);
            }
            Form::Rows | Form::Payload => {
                self.filter = Some(number("root_s"));
                self.plain = self.filter.map(|filter| filter / ratio);
            }
        }
        Ok(())
    }

    /// Whole runs: the checker on one thread, the replay, and the checker on all cores, in turn.
    fn whole(&mut self, form: Form, folder: &Path, options: &Options) -> Said<()> {
        let replay = [shown(&root().join("bench/replay.py")), "--serve".to_owned(), shown(folder)];
        let mut numpy = Server::start(&options.python, &replay)?;
        let first = numpy.ask("run")?;
        let replayed = first.get("unsupported").is_none();
        if let Some(why) = first["unsupported"].as_str() {
            let _ = write!(self.remark, "numpy: {why}. ");
        }
        let number = |value: &Value, name: &str| value[name].as_f64().unwrap_or_default();
        if replayed && number(&first, "bound") <= 0.0 {
            return Err(format!("numpy reaches {}, and the checker accepts", first["bound"]));
        }
        let (mut pairs, mut threads, mut passes, mut checks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut decided, mut entries) = (0, 0);
        for turn in 0..options.pairs {
            if std::io::stderr().is_terminal() {
                eprint!("\r  whole runs: {turn} of {} ", options.pairs);
            }
            // Which comes first changes from turn to turn.
            let mut replay = None;
            if replayed && turn % 2 == 0 {
                replay = Some(numpy.ask("run")?);
            }
            children::rest();
            let one = check(&options.checker, folder, 1, "auto")?;
            if replayed && turn % 2 == 1 {
                replay = Some(numpy.ask("run")?);
            }
            children::rest();
            let two = check(&options.checker, folder, 2, "auto")?;
            if let Some(replay) = replay {
                pairs.push([number(&replay, "seconds"), one.run.cpu]);
                let root = if form == Form::Leaves { number(&replay, "root_s") } else { 0.0 };
                passes.push(number(&replay, "pass_s") - root);
            }
            checks.push(one.run.cpu);
            threads.push([two.run.seconds, one.run.seconds]);
            self.peak_mb = self.peak_mb.max(two.run.peak_mb).max(one.run.peak_mb);
            (decided, entries) = (one.filter, one.filter + one.exact);
        }
        if std::io::stderr().is_terminal() {
            eprint!("\r{:40}\r", "");
        }
        let median = |pairs: &[[f64; 2]], which: usize| {
            Spread::of(pairs.iter().map(|pair| pair[which]).collect()).map(|spread| spread.median)
        };
        self.check = Spread::of(checks).map(|spread| spread.median);
        self.check_all = median(&threads, 0);
        self.two_threads = Spread::of_ratios(&threads);
        self.numpy = Spread::of(passes).map(|spread| spread.median);
        self.numpy_whole = median(&pairs, 0);
        self.filter_numpy = Spread::of_ratios(&pairs);
        self.decided = Some(decided as f64 / entries.max(1) as f64);
        Ok(())
    }

    fn payload(&mut self, folder: &Path, options: &Options) -> Said<()> {
        let file = folder.join("payload.safetensors");
        self.bytes = std::fs::metadata(&file).map_err(|error| error.to_string())?.len();
        let megabytes = self.bytes as f64 / 1e6;
        let mut speeds = Vec::new();
        for _ in 0..3 {
            let mut command = Command::new(&options.checker);
            let run = children::run(command.arg("digest").arg(folder.join("graph.json")).arg(&file))?;
            self.peak_mb = self.peak_mb.max(run.peak_mb);
            let floor = own(&["floor", &shown(&file)])?;
            speeds.push([megabytes / floor["digest_s"].as_f64().unwrap_or(1.0), megabytes / run.cpu]);
        }
        let median = |which: usize| Spread::of(speeds.iter().map(|pair| pair[which]).collect()).map(|s| s.median);
        self.digest = median(1).zip(median(0));
        Ok(())
    }

    /// The row as an object.
    pub(crate) fn json(&self) -> Value {
        let spread = |spread: Option<Spread>| spread.map(|s| json!({"median": s.median, "low": s.low, "high": s.high}));
        json!({
            "workload": self.name,
            "plain_s": self.plain, "numpy_s": self.numpy, "filter_s": self.filter, "exact_s": self.exact,
            "leaves": self.leaves, "peak_mb": self.peak_mb,
            "rows": self.rows, "bytes_per_leaf": self.per_leaf(), "leaves_per_s": self.speed(),
            "check_s": self.check, "numpy_whole_s": self.numpy_whole, "check_two_threads_s": self.check_all,
            "filter_plain": spread(self.filter_plain), "filter_numpy": spread(self.filter_numpy),
            "one_thread_over_two": spread(self.two_threads), "exact_plain": self.exact_plain(),
            "decided_by_filter": self.decided,
            "digest_mb_per_s": self.digest.map(|(speed, _)| speed), "sha256_mb_per_s": self.digest.map(|(_, floor)| floor),
            "remark": self.remark,
        })
    }

    fn per_leaf(&self) -> f64 {
        self.bytes as f64 / self.leaves.max(1) as f64
    }

    fn speed(&self) -> Option<f64> {
        self.check.map(|check| self.leaves as f64 / check)
    }

    fn exact_plain(&self) -> Option<f64> {
        self.exact.zip(self.plain).map(|(exact, plain)| exact / plain)
    }

    /// The row in the table.
    pub(crate) fn line(&self) -> String {
        let Self { name, leaves, peak_mb, .. } = self;
        if let Some((speed, floor)) = self.digest {
            return format!(
                "{name:<22} read and digested at {speed:.0} MB/s, SHA-256 alone at {floor:.0} MB/s, peak {peak_mb:.0} MB"
            );
        }
        let number =
            |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
        let seconds = |value| number(value, 3);
        let ratio = |spread: Option<Spread>| {
            spread.map_or("-".to_owned(), |s| format!("{:.2} ({:.2}-{:.2})", s.median, s.low, s.high))
        };
        let cells = [
            leaves.to_string(),
            seconds(self.plain),
            seconds(self.filter),
            seconds(self.numpy),
            seconds(self.exact),
            ratio(self.filter_plain),
            number(self.exact_plain(), 0),
            seconds(self.check),
            seconds(self.numpy_whole),
            ratio(self.filter_numpy),
            seconds(self.check_all),
            ratio(self.two_threads),
            number(self.speed(), 0),
            format!("{:.0}", self.per_leaf()),
            format!("{peak_mb:.0}"),
            number(self.decided.map(|share| 100.0 * share), 1),
            self.search.unwrap_or("-").to_owned(),
        ];
        cells.iter().zip(HEAD).fold(format!("{name:<22}"), |line, (cell, (_, width))| format!("{line} {cell:>width$}"))
    }
}

/// Columns of the table and their widths.
const HEAD: [(&str, usize); 17] = [
    ("leaves", 8),
    ("plain s", 8),
    ("filter s", 8),
    ("numpy s", 8),
    ("exact s", 9),
    ("filter/plain", 17),
    ("exact/plain", 11),
    ("check s", 8),
    ("numpy all", 9),
    ("check/numpy all", 17),
    ("2 threads", 9),
    ("1 over 2 threads", 17),
    ("leaves/s", 8),
    ("B/leaf", 6),
    ("peak MB", 7),
    ("filter %", 8),
    ("search s", 8),
];

/// The rows with a head.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = HEAD.iter().fold(format!("{:<22}", "workload"), |line, (name, width)| format!("{line} {name:>width$}"));
    rows.iter().fold(head + "\n", |mut table, row| {
        table += &row.line();
        table.push('\n');
        if !row.remark.is_empty() {
            let _ = writeln!(table, "  {}", row.remark);
        }
        table
    })
}

fn pair(value: &Value) -> Option<[f64; 2]> {
    Some([value[0].as_f64()?, value[1].as_f64()?])
}
