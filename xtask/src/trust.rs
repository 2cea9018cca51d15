//! The kernel's dependencies are those that `docs/trust.md` lists, version for version, with their lines of code.

use crate::code_lines::{entries, weigh};
use crate::output_of_cargo;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The crate on top of the kernel.
const TOP: &str = "certkern-claims";
/// The heading above the table.
const HEADING: &str = "## Dependencies of the kernel";

/// Compares.
///
/// # Errors
/// The difference.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let tree =
        output_of_cargo(root, &["tree", "--locked", "-p", TOP, "-e", "normal", "--prefix", "none", "--target", "all"])?;
    let document = fs::read_to_string(root.join("docs/trust.md")).map_err(|error| format!("docs/trust.md: {error}"))?;
    let sources = registry()?;
    let counted = dependencies(&tree).into_iter().map(|(name, version)| {
        let folder = format!("{name}-{version}");
        let source = sources.iter().map(|source| source.join(&folder)).find(|source| source.is_dir());
        let source = source.ok_or_else(|| format!("the source of {folder} is not where cargo keeps it"))?;
        let files = weigh(&source.join("src"))?;
        Ok((name, version, files.iter().map(|(_, lines)| lines.len()).sum::<usize>().to_string()))
    });
    compare(&counted.collect::<Result<_, String>>()?, &listed(&document))
}

/// The folders in which cargo keeps the sources of packages, one for each registry.
fn registry() -> Result<Vec<PathBuf>, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    entries(&home.ok_or("no home folder")?.join("registry/src"))
}

/// Name, version and lines of code.
type Dependency = (String, String, String);

fn compare(found: &BTreeSet<Dependency>, listed: &BTreeSet<Dependency>) -> Result<String, String> {
    let names = |set: Vec<&Dependency>| {
        set.iter().map(|(name, version, lines)| format!("{name} {version}, {lines} lines")).collect::<Vec<_>>()
    };
    let unlisted = names(found.difference(listed).collect());
    let gone = names(listed.difference(found).collect());
    if found.is_empty() || !unlisted.is_empty() || !gone.is_empty() {
        return Err(format!(
            "docs/trust.md and the kernel's dependencies differ: not listed {unlisted:?}, listed in vain {gone:?}"
        ));
    }
    Ok(format!("{} dependencies of the kernel, as docs/trust.md lists them", found.len()))
}

/// The crates of a `cargo tree` that come from elsewhere: lines `name v1.2.3`, without the path that members have.
fn dependencies(tree: &str) -> BTreeSet<(String, String)> {
    let foreign = tree.lines().filter(|line| !line.contains("(/") && !line.contains(":\\"));
    let split = foreign.filter_map(|line| line.trim_end_matches(" (*)").split_once(" v"));
    split.map(|(name, rest)| (name.to_owned(), rest.split(' ').next().unwrap_or(rest).to_owned())).collect()
}

/// The first three cells of each row of the table under the heading.
fn listed(document: &str) -> BTreeSet<Dependency> {
    let section = document.split(HEADING).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.map(|row| row.split('|').skip(1).map(|cell| cell.trim().trim_matches('`').to_owned()));
    cells.filter_map(|mut cells| Some((cells.next()?, cells.next()?, cells.next()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "certkern-claims v0.1.0 (/somewhere/kernel/claims)
certkern-core v0.1.0 (/somewhere/kernel/core)
num-bigint v0.4.6
num-traits v0.2.19
num-traits v0.2.19 (*)
derive v1.0.0 (proc-macro)
";

    fn set(items: &[(&str, &str)]) -> BTreeSet<Dependency> {
        items.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned(), "7".to_owned())).collect()
    }

    #[test]
    fn a_tree_is_read() {
        let expected = [("derive", "1.0.0"), ("num-bigint", "0.4.6"), ("num-traits", "0.2.19")];
        let found = dependencies(TREE);
        assert!(found.iter().map(|(name, version)| (&**name, &**version)).eq(expected));
    }

    #[test]
    fn a_table_is_read() {
        let document = format!(
            "# Trust\n\n| a | b |\n|---|---|\n| no | 1 |\n\n{HEADING}\n\ntext\n\n| crate | version | lines | why |\n|---|---|---|---|\n| `num-bigint` | 0.4.6 | 7 | integers |\n\n## Next\n\n| x | 1 |\n"
        );
        assert_eq!(listed(&document), set(&[("num-bigint", "0.4.6")]));
    }

    #[test]
    fn differences_are_named() {
        let (one, two) = (set(&[("a", "1.0.0")]), set(&[("a", "1.0.1")]));
        let text = compare(&one, &two).unwrap_err();
        assert!(
            text.contains("not listed [\"a 1.0.0, 7 lines\"]") && text.contains("in vain [\"a 1.0.1, 7 lines\"]"),
            "{text}"
        );
        assert!(compare(&one, &one).is_ok());
        assert!(compare(&set(&[]), &set(&[])).is_err());
    }
}
