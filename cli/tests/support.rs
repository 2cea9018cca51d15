//! Running the binary, finding files, small bundles.

use certkern_onnx::{Dtype, write_safetensors};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A finished run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().next_back().unwrap_or_default()
    }

    /// Asserts on exit code and last line on standard output.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, line: &str) -> &Self {
        assert_eq!((self.code, self.last_line()), (code, line), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that the arguments or a file were refused: no verdict, and a complaint that says `text`.
    #[track_caller]
    pub(crate) fn expect_usage(&self, text: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (64, ""), "{}", self.stderr);
        assert!(self.stderr.contains(text), "{}", self.stderr);
    }
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_certkern"));
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs the binary in the root of the repository.
pub(crate) fn certkern<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    let Output { status, stdout, stderr } = command().args(arguments).output().unwrap();
    let code = status.code().expect("no signal");
    Run { code, stdout: String::from_utf8(stdout).unwrap(), stderr: String::from_utf8(stderr).unwrap() }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The folder `../shared/data` beside the repository, or `None` with a visible note. Where `CERTKERN_REQUIRE_SHARED=1` is set it must be
/// there.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = root().join("../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    let required = std::env::var("CERTKERN_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "../shared is absent");
    eprintln!("SKIPPED: ../shared is absent");
    None
}

/// The entries of a folder in order of their names.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// The dumps of the repository, each after the name of its bundle in `certs/accept/leaves`: those of our own scripts, and those of
/// α,β-CROWN.
pub(crate) fn all_dumps() -> Vec<(String, PathBuf)> {
    let of = |folder: &str, prefix: &str| -> Vec<(String, PathBuf)> {
        let dumps = entries(&root().join("certs").join(folder)).into_iter();
        dumps.map(|dump| (format!("{prefix}{}", dump.file_name().unwrap().to_str().unwrap()), dump)).collect()
    };
    [of("dumps", ""), of("live", "live_")].concat()
}

/// The one file of a folder with this extension.
pub(crate) fn only(folder: &Path, extension: &str) -> PathBuf {
    let found: Vec<PathBuf> =
        entries(folder).into_iter().filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    let [path] = found.as_slice() else { panic!("{} has {} .{extension} files", folder.display(), found.len()) };
    path.clone()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A tensor for a safetensors file.
pub(crate) type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

pub(crate) fn u32s(name: &str, values: &[usize]) -> Tensor {
    let bytes = values.iter().flat_map(|value| u32::try_from(*value).unwrap().to_le_bytes()).collect();
    (name.to_owned(), Dtype::U32, vec![values.len()], bytes)
}

pub(crate) fn u8s(name: &str, values: &[u8]) -> Tensor {
    (name.to_owned(), Dtype::U8, vec![values.len()], values.to_vec())
}

pub(crate) fn f64s(name: &str, shape: &[usize], values: &[f64]) -> Tensor {
    assert_eq!(shape.iter().product::<usize>(), values.len(), "{name}");
    (name.to_owned(), Dtype::F64, shape.to_vec(), values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

/// The hints of a certificate whose one tree is a leaf.
pub(crate) fn one_leaf() -> Vec<u8> {
    write_safetensors(&[
        u32s("tree.offset", &[0, 1]),
        u8s("tree.kind", &[0]),
        u32s("tree.node", &[0]),
        u32s("tree.coordinate", &[0]),
        u32s("tree.threshold", &[0]),
    ])
}

/// The dump of the repository that small bundles are made from, its network and its property.
pub(crate) fn small_dump() -> [PathBuf; 3] {
    let dump = root().join("certs/dumps/small_relu");
    [dump.clone(), dump.join("net.onnx"), dump.join("property.vnnlib")]
}

/// A bundle that the kernel accepts, at `folder`.
pub(crate) fn small_bundle(folder: &Path) {
    let [dump, net, property] = small_dump();
    let run = certkern([
        "import",
        "abcrown",
        text(&dump),
        "--onnx",
        text(&net),
        "--property",
        text(&property),
        "-o",
        text(folder),
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}
