//! `certkern trust`: what a verdict of a kind rests on, in layers, with lines of code.

use crate::Format;
use crate::failure::Failure;
use crate::output;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::fmt::Write;

pub(crate) const HELP: &str = "\
Example:
  certkern trust leaves

Lines of code are without blank lines, comments and tests. Those of the kernel, the texts and the command line
were counted when this binary was built; those of a dependency are of all its sources, of which the kernel uses a
part. What is believed of each, and what is not promised, stands in docs/trust.md.";

/// The arguments of `certkern trust`.
#[derive(clap::Args)]
pub(crate) struct Trust {
    /// A certificate kind
    #[arg(value_enum)]
    kind: Kind,
    /// How the result is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// The certificate kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A graph is well-shaped
    Graph,
    /// A network reaches no unsafe set
    Leaves,
    /// The outputs of a network lie within bounds
    Bound,
    /// The values of nodes lie within bounds
    Nodes,
    /// A network falls in no input
    Monotone,
    /// A point at which a network reaches an unsafe set
    Witness,
    /// Values of expressions lie in balls
    Enclosure,
}

/// The lines of each source file, by its path from the root of the repository.
const LINES: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/lines.rs"));

/// The document that lists the dependencies of the kernel.
const DOCUMENT: &str = include_str!("../../docs/trust.md");

/// What reports assume.
const ASSUMPTIONS: &str = include_str!("../../docs/assumptions.json");

/// The heading above the table of dependencies.
const HEADING: &str = "## Dependencies of the kernel";

/// Sources that are trusted together. A file belongs to the first layer that names a path above it.
struct Layer {
    name: &'static str,
    paths: &'static [&'static str],
    /// On which part of it a verdict of a kind rests, if not on all; `None` if on nothing.
    of: fn(Kind) -> Option<&'static str>,
}

const LAYERS: &[Layer] = &[
    Layer {
        name: "filter tier",
        paths: &["kernel/core/src/filter", "kernel/core/src/rules/filter"],
        of: |kind| match kind {
            Kind::Leaves | Kind::Bound | Kind::Nodes => Some("not with --arith exact"),
            Kind::Graph | Kind::Monotone | Kind::Witness | Kind::Enclosure => None,
        },
    },
    Layer {
        name: "functions and expressions",
        paths: &[
            "kernel/core/src/func",
            "kernel/core/src/expr",
            "kernel/core/src/num/real.rs",
            "kernel/core/src/num/real",
            "kernel/core/src/rules/enclose.rs",
        ],
        of: |kind| match kind {
            Kind::Leaves | Kind::Bound | Kind::Nodes | Kind::Witness => {
                Some("where the graph has functions beside relu")
            }
            Kind::Enclosure => Some(""),
            Kind::Monotone => Some("names and domains alone"),
            Kind::Graph => None,
        },
    },
    Layer {
        name: "numbers, programs, regions, rules",
        paths: &["kernel/core/src"],
        of: |kind| match kind {
            Kind::Graph | Kind::Enclosure => Some("numbers alone"),
            Kind::Leaves | Kind::Bound | Kind::Nodes | Kind::Witness => Some(""),
            Kind::Monotone => Some("numbers, programs, and the one rule"),
        },
    },
    Layer {
        name: "graph language",
        paths: &["kernel/graph/src"],
        of: |kind| match kind {
            Kind::Graph => Some("shape rules, not meanings"),
            Kind::Leaves | Kind::Bound | Kind::Nodes | Kind::Monotone | Kind::Witness => {
                Some("of the operators those of the graph")
            }
            Kind::Enclosure => None,
        },
    },
    Layer { name: "readers, limits, digests", paths: &["kernel/wire/src"], of: |_| Some("") },
    Layer { name: "seal", paths: &["kernel/seal/src"], of: |_| Some("") },
    Layer { name: "certificate kinds", paths: &["kernel/claims/src"], of: |_| Some("can forge no judgement") },
    Layer { name: "texts", paths: &["report/src"], of: |_| Some("word the verdict, and decide nothing of it") },
    Layer { name: "command line", paths: &["cli/src"], of: |_| Some("reads files and prints the verdict") },
];

/// A row of the table of dependencies.
struct Dependency {
    name: &'static str,
    version: &'static str,
    lines: usize,
    why: &'static str,
}

impl Trust {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        output::print(&match self.format {
            Format::Text => self.kind.text(),
            Format::Json => format!("{}\n", self.kind.json()),
        })?;
        Ok(0)
    }
}

impl Layer {
    /// Lines of code: of the files that no earlier layer has.
    fn lines(&self) -> usize {
        let own =
            |path: &str| LAYERS.iter().find(|layer| layer.holds(path)).is_some_and(|layer| layer.name == self.name);
        LINES.iter().filter(|(path, _)| own(path)).map(|(_, lines)| lines).sum()
    }

    fn holds(&self, path: &str) -> bool {
        self.paths.iter().any(|own| path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }
}

/// The rows of the table of dependencies.
fn dependencies() -> Vec<Dependency> {
    let section = DOCUMENT.split(HEADING).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let dependency = |row: &'static str| {
        let mut cells = row.split('|').skip(1).map(|cell| cell.trim().trim_matches('`'));
        let (name, version, lines) = (cells.next()?, cells.next()?, cells.next()?);
        Some(Dependency { name, version, lines: lines.parse().ok()?, why: cells.next()? })
    };
    rows.filter_map(dependency).collect()
}

impl Kind {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The layers that a verdict of this kind rests on, and on which part of each.
    fn layers(self) -> impl Iterator<Item = (&'static Layer, &'static str)> {
        LAYERS.iter().filter_map(move |layer| Some((layer, (layer.of)(self)?)))
    }

    fn text(self) -> String {
        let mut text = format!("A verdict of kind {} rests on\n\n", self.name());
        let mut total = 0;
        for (layer, part) in self.layers() {
            let remark = if part.is_empty() { String::new() } else { format!("  ({part})") };
            let _ = writeln!(text, "  {:>6} lines  {}{remark}", layer.lines(), layer.name);
            total += layer.lines();
        }
        let _ = writeln!(text, "  {total:>6} lines of ours\n");
        let mut total = 0;
        for Dependency { name, version, lines, why } in dependencies() {
            let _ = writeln!(text, "  {lines:>6} lines  {name} {version}: {why}");
            total += lines;
        }
        let _ = writeln!(text, "  {total:>6} lines of dependencies\n");
        text.push_str("and on the Rust compiler and standard library, the operating system and the processor.\n");
        text.push_str("\nA report of this kind may assume\n\n");
        for assumption in self.assumptions() {
            let said = |member: &str| assumption[member].as_str().unwrap_or_default().to_owned();
            let _ = writeln!(text, "  {}: retired by {}", said("name"), said("retired_by"));
        }
        text
    }

    fn json(self) -> Value {
        let layer = |(layer, part): (&Layer, &str)| json!({"name": layer.name, "lines": layer.lines(), "part": part});
        let layers: Vec<Value> = self.layers().map(layer).collect();
        let dependency = |Dependency { name, version, lines, why }: Dependency| json!({"name": name, "version": version, "lines": lines, "why": why});
        let dependencies: Vec<Value> = dependencies().into_iter().map(dependency).collect();
        let assumptions = self.assumptions();
        json!({"kind": self.name(), "layers": layers, "dependencies": dependencies, "assumptions": assumptions})
    }

    /// What reports of this kind may assume.
    fn assumptions(self) -> Vec<Value> {
        let list: Value = serde_json::from_str(ASSUMPTIONS).unwrap_or_default();
        let of_kind =
            |entry: &&Value| entry["kinds"].as_array().is_some_and(|kinds| kinds.contains(&json!(self.name())));
        list["assumptions"].as_array().into_iter().flatten().filter(of_kind).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_belongs_to_a_layer_and_every_layer_has_files() {
        let stray = LINES.iter().filter(|(path, _)| !LAYERS.iter().any(|layer| layer.holds(path)));
        assert_eq!(stray.count(), 0);
        assert!(LAYERS.iter().all(|layer| layer.lines() > 0));
        let total: usize = LINES.iter().map(|(_, lines)| lines).sum();
        assert_eq!(LAYERS.iter().map(Layer::lines).sum::<usize>(), total);
        // A file of the filter tier and one beside it.
        let of = |path: &str| LAYERS.iter().find(|layer| layer.holds(path)).unwrap().name;
        assert_eq!(of("kernel/core/src/rules/filter/pass.rs"), "filter tier");
        assert_eq!(of("kernel/core/src/rules/back.rs"), "numbers, programs, regions, rules");
    }

    #[test]
    fn every_kind_of_the_corpus_is_known() {
        let accepted = concat!(env!("CARGO_MANIFEST_DIR"), "/../certs/accept");
        let folders = std::fs::read_dir(accepted).unwrap();
        let mut found: Vec<String> = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
        let mut known: Vec<String> = Kind::value_variants().iter().map(|kind| kind.name()).collect();
        found.sort();
        known.sort();
        assert_eq!(found, known);
    }

    #[test]
    fn all_dependencies_are_read() {
        let table = DOCUMENT.split(HEADING).nth(1).unwrap().split("\n## ").next().unwrap();
        let rows = table.lines().filter(|line| line.starts_with("| `")).count();
        assert!(rows > 10 && dependencies().len() == rows);
    }

    #[test]
    fn every_kind_assumes_something() {
        assert!(Kind::value_variants().iter().all(|kind| kind.text().contains("  trusted-base: retired by ")));
        assert!(!Kind::Enclosure.text().contains("  model: "));
    }
}
