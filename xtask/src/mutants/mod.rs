//! `cargo xtask mutants`: a seeded sample of cargo-mutants' changes to the kernel, each of which the tests should catch.
//!
//! cargo-mutants only lists the changes. They all stand in one copy of the repository in `target/mutants`, each behind a switch that an
//! environment variable sets, so that the tests are built once and each change costs only the tests that it takes to notice it. What cannot
//! have a switch is made alone in a second copy. Outcomes are kept in `docs/mutants`; a change that has one there is not tried again, so that a
//! campaign can be interrupted and goes on where it was.

mod campaign;
mod listing;
mod schema;
mod trial;
mod workshop;

use campaign::Campaign;
use listing::Mutant;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Where the outcomes lie, in a file for each area and seed.
const FOLDER: &str = "docs/mutants";

/// What the command line asks for.
struct Request {
    seed: u64,
    /// How many changes that build are drawn.
    sample: usize,
    area: String,
    /// Only list what would be tried.
    list: bool,
    /// Try again those that were missed.
    missed: bool,
}

/// Draws the sample, tries what has no outcome yet, and counts.
///
/// # Errors
/// If cargo-mutants or git fails, or if tests fail on the unchanged kernel.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let request = request(arguments)?;
    let mutants = listing::drawn(listing::listed(root)?, &request.area, request.seed);
    let path = root.join(FOLDER).join(format!("{}-{}.txt", request.area, request.seed));
    let mut known = outcomes(&fs::read_to_string(&path).unwrap_or_default());
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
    known.retain(|name, _| names.contains(name.as_str()));
    if request.list {
        for mutant in &mutants[..sample(&mutants, &known, request.sample)] {
            println!("{}\t{}", known.get(&mutant.name).map_or("-", String::as_str), mutant.name);
        }
        return Ok(tally(mutants.len(), &known));
    }
    let campaign = Campaign::new(root, &root.join("target/mutants").join(&request.area), &mutants);
    let path_apart = root.join("target/mutants").join(&request.area).join("apart.txt");
    let names = fs::read_to_string(&path_apart).unwrap_or_default();
    let names: BTreeSet<&str> = names.lines().collect();
    let mut apart: BTreeSet<usize> = (1..)
        .zip(&mutants)
        .filter(|(_, mutant)| names.contains(mutant.name.as_str()))
        .map(|(number, _)| number)
        .collect();
    let mut tests = loop {
        let tests = campaign.ready(request.sample, &mut known, &mut apart)?;
        write(&path, &mutants, &known)?;
        let names: String = apart.iter().map(|number| format!("{}\n", mutants[number - 1].name)).collect();
        fs::write(&path_apart, names).map_err(|error| format!("{}: {error}", path_apart.display()))?;
        if let Some(tests) = tests {
            break tests;
        }
    };
    let drawn = 1..=sample(&mutants, &known, request.sample);
    let untried = |number: &usize| {
        let outcome = known.get(&mutants[number - 1].name);
        outcome.is_none_or(|outcome| request.missed && outcome.starts_with("missed"))
    };
    let (alone, mut open): (Vec<usize>, Vec<usize>) = drawn.filter(untried).partition(|number| apart.contains(number));
    let mut enter = |number: usize, outcome: String, start: Instant| {
        let name = &mutants[number - 1].name;
        let caught = outcome.starts_with("caught") && known.contains_key(name);
        let outcome = if caught { format!("{outcome}, once missed") } else { outcome };
        println!("{outcome} ({:.0} s)\t{name}", start.elapsed().as_secs_f64());
        known.insert(name.clone(), outcome);
        write(&path, &mutants, &known)
    };
    // Tests that take long come late, for the changes that are left.
    for package in campaign::packages_of_tests() {
        let mut left = Vec::new();
        for number in open {
            let start = Instant::now();
            match campaign.outcome(&mut tests, number, package)? {
                Some(outcome) => enter(number, outcome, start)?,
                None => left.push(number),
            }
        }
        open = left;
        println!("{package} has run, {} changes are left", open.len());
    }
    for number in open {
        enter(number, "missed".to_owned(), Instant::now())?;
    }
    for number in alone {
        let start = Instant::now();
        enter(number, campaign.outcome_alone(&mut tests, number)?, start)?;
    }
    Ok(tally(mutants.len(), &known))
}

fn request(arguments: &[&str]) -> Result<Request, String> {
    let mut request = Request { seed: 1, sample: 60, area: "rules".to_owned(), list: false, missed: false };
    let mut rest = arguments.iter();
    while let Some(&argument) = rest.next() {
        let mut value = || rest.next().copied().ok_or_else(|| format!("{argument}: no value"));
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{argument} {text}: {error}"));
        match argument {
            "--seed" => request.seed = number(value()?)?,
            "--sample" => request.sample = usize::try_from(number(value()?)?).unwrap_or(usize::MAX),
            "--area" => value()?.clone_into(&mut request.area),
            "--list" => request.list = true,
            "--missed" => request.missed = true,
            _ => return Err(format!("mutants: {argument}?")),
        }
    }
    match request.area.as_str() {
        "rules" | "rest" => Ok(request),
        other => Err(format!("--area {other}: rules or rest")),
    }
}

/// How many changes there are to the last of the sample: those that are not known to be unviable count.
fn sample(mutants: &[Mutant], known: &BTreeMap<String, String>, sample: usize) -> usize {
    let viable = |mutant: &Mutant| known.get(&mutant.name).is_none_or(|outcome| outcome != "unviable");
    let mut places = mutants.iter().enumerate().filter(|(_, mutant)| viable(mutant)).map(|(place, _)| place);
    sample.checked_sub(1).map_or(0, |last| places.nth(last).map_or(mutants.len(), |place| place + 1))
}

/// The outcomes in a file: one a line, a tab, the name of the change.
fn outcomes(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(outcome, name)| (name.to_owned(), outcome.to_owned())).collect()
}

fn write(path: &Path, mutants: &[Mutant], known: &BTreeMap<String, String>) -> Result<(), String> {
    let lines = mutants.iter().filter_map(|mutant| known.get(&mutant.name).map(|outcome| (outcome, &mutant.name)));
    let text: String = lines.map(|(outcome, name)| format!("{outcome}\t{name}\n")).collect();
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

/// The counts of outcomes.
fn tally(all: usize, known: &BTreeMap<String, String>) -> String {
    let count = |what: &str| known.values().filter(|outcome| outcome.starts_with(what)).count();
    let again = known.values().filter(|outcome| outcome.ends_with("once missed")).count();
    let [caught, timeout, missed, unviable] = ["caught", "timeout", "missed", "unviable"].map(count);
    format!(
        "{all} changes in the area, {} tried: {caught} caught ({again} of them once missed), {timeout} ran out of time, {missed} missed, \
         {unviable} do not build",
        known.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_understood_or_refused() {
        let asked = request(&["--area", "rest", "--seed", "7", "--missed"]).unwrap();
        assert_eq!(
            (asked.area.as_str(), asked.seed, asked.sample, asked.missed, asked.list),
            ("rest", 7, 60, true, false)
        );
        assert!(request(&["--area", "other"]).is_err() && request(&["--seed"]).is_err());
    }

    #[test]
    fn what_does_not_build_is_drawn_in_addition() {
        let mutants: Vec<Mutant> = ["a", "b", "c"]
            .map(|name| Mutant { name: name.to_owned(), file: String::new(), patch: String::new() })
            .into();
        let known = outcomes("unviable\ta\nmissed\tb\n");
        assert_eq!([0, 1, 2, 9].map(|count| sample(&mutants, &known, count)), [0, 2, 3, 3]);
    }

    #[test]
    fn outcomes_are_read_back_and_counted() {
        let known = outcomes("missed\ta\tb\ncaught by p t, once missed\tc\tb\nunviable\td\te\t2\n");
        assert_eq!(known["a\tb"], "missed");
        let said = "9 changes in the area, 3 tried: 1 caught (1 of them once missed), 0 ran out of time, 1 missed, 1 do not build";
        assert_eq!(tally(9, &known), said);
    }
}
