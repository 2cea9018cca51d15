//! Counts the lines of what a verdict rests on, for `certkern trust`.

#[path = "../xtask/src/code_lines.rs"]
mod code_lines;

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.parent().expect("the command line lies in the repository");
    let mut counted = String::from("&[\n");
    for folder in ["kernel/core", "kernel/wire", "kernel/graph", "kernel/seal", "kernel/claims", "report", "cli"] {
        let source = root.join(folder).join("src");
        println!("cargo:rerun-if-changed={}", source.display());
        for (path, lines) in code_lines::weigh(&source).expect("the sources can be read") {
            let path = path.strip_prefix(root).expect("it lies below the root").display().to_string();
            counted.push_str(&format!("    ({:?}, {}),\n", path.replace('\\', "/"), lines.len()));
        }
    }
    println!("cargo:rerun-if-changed={}", root.join("xtask/src/code_lines.rs").display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("lines.rs"), counted + "]\n").expect("OUT_DIR can be written");
}
