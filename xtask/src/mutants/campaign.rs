//! The copies in which changes are tried: one for all that can have a switch, one for the others.

use super::listing::Mutant;
use super::schema::{SWITCH, Schema};
use super::trial::{Binary, Tests};
use super::workshop::Workshop;
use crate::members::{KERNEL, MEMBERS};
use crate::planted::git_apply;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Members that do not use the kernel.
const STRANGERS: [&str; 1] = ["xtask"];

/// The changes of an area, in the order of their numbers, which begin at 1.
pub(super) struct Campaign<'a> {
    root: &'a Path,
    mutants: &'a [Mutant],
    joint: Workshop<'a>,
    alone: Workshop<'a>,
    known: PathBuf,
}

impl<'a> Campaign<'a> {
    pub(super) fn new(root: &'a Path, folder: &Path, mutants: &'a [Mutant]) -> Self {
        let workshop = |name: &str| Workshop::new(root, folder.join(name));
        Self { root, mutants, joint: workshop("joint"), alone: workshop("alone"), known: folder.join("measured.txt") }
    }

    /// Builds the tests with all changes of the sample behind switches. None if there were changes that cannot be among
    /// them: those that do not build are entered, the others lie apart.
    pub(super) fn ready(
        &self,
        sample: usize,
        known: &mut BTreeMap<String, String>,
        apart: &mut BTreeSet<usize>,
    ) -> Result<Option<Tests>, String> {
        let drawn = super::sample(self.mutants, known, sample);
        let viable = |number: &usize| known.get(&self.mutants[number - 1].name).is_none_or(|said| said != "unviable");
        let switched: Vec<usize> = (1..=drawn).filter(|number| viable(number) && !apart.contains(number)).collect();
        let refused = match self.build(&switched)? {
            Ok(tests) => return Ok(Some(tests)),
            Err(refused) => refused,
        };
        println!("{} of {} changes cannot be among the others", refused.len(), switched.len());
        for number in refused {
            let mutant = &self.mutants[number - 1];
            if known.contains_key(&mutant.name) || self.builds(mutant)? {
                apart.insert(number);
            } else {
                known.insert(mutant.name.clone(), "unviable".to_owned());
            }
        }
        Ok(None)
    }

    /// The tests with these changes behind switches, or the changes that cannot be among them.
    fn build(&self, numbers: &[usize]) -> Result<Result<Tests, Vec<usize>>, String> {
        let mut files: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
        for &number in numbers {
            let mutant = &self.mutants[number - 1];
            files.entry(&mutant.file).or_default().push((number, mutant));
        }
        let read = |file: &str| fs::read_to_string(self.root.join(file)).map_err(|error| format!("{file}: {error}"));
        let mut schemata = BTreeMap::new();
        for (file, mutants) in files {
            schemata.insert(file.to_owned(), Schema::new(&read(file)?, &mutants));
        }
        let mut texts: BTreeMap<String, String> =
            schemata.iter().map(|(file, schema)| (file.clone(), schema.text.clone())).collect();
        for (folder, _) in KERNEL {
            let file = format!("{folder}/src/lib.rs");
            let text = texts.remove(&file).map_or_else(|| read(&file), Ok)?;
            texts.insert(file, text + SWITCH);
        }
        self.joint.renew(&texts)?;
        let mut refused: BTreeSet<usize> = schemata.values().flat_map(|schema| &schema.homeless).copied().collect();
        let packages: Vec<&str> = KERNEL.iter().flat_map(|(_, package)| ["-p", *package]).collect();
        let check = [&["check", "--locked", "--keep-going", "--lib"], &packages[..]].concat();
        refused.extend(self.blamed(&check, &schemata)?);
        if !refused.is_empty() {
            return Ok(Err(refused.into_iter().collect()));
        }
        let mut binaries = Vec::new();
        for package in packages_of_tests() {
            match self.joint.binaries(package)? {
                Some(more) => binaries.extend(more),
                None => return self.blamed(&["test", "--locked", "--no-run", "-p", package], &schemata).map(Err),
            }
        }
        let places = schemata.values().flat_map(|schema| schema.places.clone()).collect();
        Ok(Ok(Tests::new(binaries, places, self.known.clone())))
    }

    /// The changes in whose lines cargo finds errors.
    fn blamed(&self, arguments: &[&str], schemata: &BTreeMap<String, Schema>) -> Result<Vec<usize>, String> {
        let mut refused = Vec::new();
        for (file, line) in self.joint.errors(arguments)? {
            match schemata.get(&file).map_or(&[][..], |schema| schema.blamed(line)) {
                [] => {
                    return Err(format!(
                        "{}/{file}:{}: an error outside the changes",
                        self.joint.tree.display(),
                        line + 1
                    ));
                }
                numbers => refused.extend(numbers),
            }
        }
        Ok(refused)
    }

    /// Whether the change builds where it is the only one.
    fn builds(&self, mutant: &Mutant) -> Result<bool, String> {
        self.make(mutant)?;
        let check = self.alone.cargo(&["check", "--locked", "-q", "--lib", "-p", mutant.package()])?;
        match check.status.code() {
            Some(0) => Ok(true),
            Some(101) => Ok(false),
            code => Err(format!("cargo check was stopped ({code:?})")),
        }
    }

    /// Makes the change alone.
    fn make(&self, mutant: &Mutant) -> Result<(), String> {
        self.alone.renew(&BTreeMap::new())?;
        git_apply(self.root, &self.alone.tree, &mutant.patch, &[])
    }

    /// Runs the tests of a package, unless it cannot use the changed one, until one notices the change.
    pub(super) fn outcome(
        &self,
        tests: &mut Tests,
        number: usize,
        package: &'static str,
    ) -> Result<Option<String>, String> {
        let changed = self.mutants[number - 1].package();
        let uses = packages_of_tests().skip_while(|user| *user != changed).any(|user| user == package);
        if uses { tests.outcome(package, number) } else { Ok(None) }
    }

    /// Makes the change alone and runs the tests of the changed package, then those of the packages after it, until one notices.
    pub(super) fn outcome_alone(&self, tests: &mut Tests, number: usize) -> Result<String, String> {
        let mutant = &self.mutants[number - 1];
        self.make(mutant)?;
        for user in packages_of_tests().skip_while(|user| *user != mutant.package()) {
            if let Some(said) = self.alone(user, tests.of(user)?)? {
                return Ok(said);
            }
        }
        Ok("missed".to_owned())
    }

    /// Runs the tests of a package in the copy where one change is made. `switched` are the same, which have passed without a change.
    fn alone(&self, package: &'static str, switched: &[Binary]) -> Result<Option<String>, String> {
        let Some(mut binaries) = self.alone.binaries(package)? else { return Ok(Some("unviable".to_owned())) };
        for binary in &mut binaries {
            let same = switched.iter().find(|known| known.name() == binary.name());
            binary.seconds = same.map_or(0.0, |known| known.seconds);
            let said = binary.outcome(0, &BTreeSet::new())?;
            if said.is_some() {
                return Ok(said);
            }
        }
        Ok(None)
    }
}

/// The members whose tests may notice a change, each after those that it uses.
pub(super) fn packages_of_tests() -> impl Iterator<Item = &'static str> {
    MEMBERS.iter().map(|member| member.name).filter(|name| !STRANGERS.contains(name))
}
