//! What is measured.

use crate::bundle::Said;
use crate::children;
use crate::dense::Dense;
use crate::residual::Residual;
use crate::{oval, payload};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which passes a workload is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Many leaves below one root.
    Leaves,
    /// Rows of bounds at the root, and one leaf.
    Rows,
    /// Leaves with rows of bounds of their own.
    Boxes,
    /// A payload to be digested.
    Payload,
}

/// Where a workload comes from.
#[derive(Clone, Debug)]
enum Source {
    Dense(usize),
    Residual(Residual),
    /// A folder of `abcrown_dumps`.
    Dump(&'static str),
    Oval,
    /// So many weights of 64 MiB.
    Payload(usize),
}

/// A workload.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    /// The seconds that α,β-CROWN searched on one thread, for dumps of its runs.
    pub(crate) search: Option<&'static str>,
    source: Source,
}

const fn real(name: &'static str, form: Form, folder: &'static str, search: &'static str) -> Workload {
    Workload { name, form, search: Some(search), source: Source::Dump(folder) }
}

/// All workloads, or small ones of each kind that is generated.
pub(crate) fn all(quick: bool) -> Vec<Workload> {
    let generated = |name, form, source| Workload { name, form, search: None, source };
    let dense = |name, leaves| generated(name, Form::Leaves, Source::Dense(leaves));
    if quick {
        return vec![
            dense("6x256, 4000 leaves", 4_000),
            generated("residual, 1e4 neurons", Form::Rows, Source::Residual(Residual::small())),
        ];
    }
    vec![
        dense("6x256, 1e4 leaves", 10_000),
        dense("6x256, 1e5 leaves", 100_000),
        dense("6x256, 1e6 leaves", 1_000_000),
        generated("residual, 1e5 neurons", Form::Rows, Source::Residual(Residual::large())),
        real("MNIST 256x2 prop_3", Form::Leaves, "mnistfc256x2_prop3_0.03_relusplit", "21-38"),
        real("ACAS 1_1 prop_1", Form::Boxes, "acasxu_1_1_prop1_boxsplit", "8.5"),
        real("ACAS 2_1 prop_3", Form::Boxes, "acasxu_2_1_prop3_boxsplit", "2.5"),
        real("ACAS 3_3 prop_3", Form::Boxes, "acasxu_3_3_prop3_boxsplit", "1.5"),
        real("ACAS 3_1 prop_3", Form::Leaves, "acasxu_3_1_prop3_relusplit", "13"),
        real("digits conv 1402", Form::Leaves, "digits_conv_1402_0.1_relusplit", "3.7"),
        generated("oval21 deep, root", Form::Rows, Source::Oval),
        generated("payload, 1.07 GB", Form::Payload, Source::Payload(16)),
    ]
}

impl Workload {
    /// Whether it needs `../shared`.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.source, Source::Dump(_) | Source::Oval)
    }

    /// Puts the workload into `folder`, which must not exist.
    ///
    /// # Errors
    /// What cannot be read or written.
    pub(crate) fn write(&self, folder: &Path, shared: &Path, checker: &Path) -> Said<()> {
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        match &self.source {
            Source::Dense(leaves) => Dense::six_by_256(*leaves).write(folder).map(drop).map_err(io),
            Source::Residual(residual) => residual.write(folder).map(drop).map_err(io),
            Source::Dump(name) => import(&shared.join("data/abcrown_dumps").join(name), folder, checker),
            Source::Oval => oval::write(&shared.join("data/oval21_conv"), folder),
            Source::Payload(weights) => payload::write(folder, *weights).map(drop).map_err(io),
        }
    }
}

/// A dump as a bundle.
fn import(dump: &Path, folder: &Path, checker: &Path) -> Said<()> {
    let listed = fs::read_dir(dump).map_err(|error| format!("{}: {error}", dump.display()))?;
    let files: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let ending = |ending: &str| {
        let found = files.iter().find(|path| path.extension().is_some_and(|own| own == ending));
        found.ok_or_else(|| format!("{} has no file .{ending}", dump.display()))
    };
    let mut command = Command::new(checker);
    command.args(["import", "abcrown"]).arg(dump).arg("--onnx").arg(ending("onnx")?);
    command.arg("--property").arg(ending("vnnlib")?).arg("-o").arg(folder);
    children::run(&mut command).map(drop)
}
