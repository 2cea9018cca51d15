//! What the kernel weighs: lines of code without blank lines, comments and tests.

use crate::code_lines::{entries, weigh};
use std::path::Path;

/// Parts of the kernel with a cap of their own: a name, the paths below `kernel`, and the most lines. Each path belongs to the first part that names it
/// or a folder above it.
const PARTS: &[(&str, &[&str], usize)] = &[
    ("filter tier", &["core/src/filter", "core/src/rules/filter"], 1850),
    (
        "functions and expressions",
        &["core/src/func", "core/src/expr", "core/src/num/real.rs", "core/src/num/real", "core/src/rules/enclose.rs"],
        2650,
    ),
    ("the rest of core", &["core/src"], 4000),
    ("graph language", &["graph/src"], 3400),
];
/// The most lines of the whole kernel.
const KERNEL: usize = 16_400;

/// Counts, and compares with the caps.
///
/// # Errors
/// If a cap is exceeded, or a file cannot be read.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let kernel = root.join("kernel");
    let mut said = String::new();
    let (mut total, mut over) = (0, false);
    let mut parts = vec![0; PARTS.len()];
    for folder in entries(&kernel)? {
        let source = folder.join("src");
        if !source.is_dir() {
            continue;
        }
        let mut lines = 0;
        for (path, code) in weigh(&source)? {
            let count = code.len();
            lines += count;
            let inside =
                |(_, paths, _): &(&str, &[&str], usize)| paths.iter().any(|own| path.starts_with(kernel.join(own)));
            if let Some(part) = PARTS.iter().position(inside) {
                parts[part] += count;
            }
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        said.push_str(&format!("kernel/{name}: {lines} lines of code\n"));
        total += lines;
    }
    for ((name, _, most), lines) in PARTS.iter().zip(parts) {
        said.push_str(&format!("{name}: {lines} of {most}\n"));
        over |= lines == 0 || lines > *most;
    }
    said.push_str(&format!("kernel: {total} of {KERNEL} lines of code"));
    if over || total > KERNEL { Err(said) } else { Ok(said) }
}
