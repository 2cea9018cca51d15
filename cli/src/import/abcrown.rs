//! `certkern import abcrown`: a leaf dump of an α,β-CROWN run as a bundle.

use super::exit_codes;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{digest, input, output};
use certkern_abcrown::SourceNames;
use certkern_wire::Limits;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = concat!(
    "Example:\n  certkern import abcrown dump/ --onnx net.onnx --property spec.vnnlib -o bundle\n  \
     certkern check bundle --onnx net.onnx --property spec.vnnlib\n\n\
     Reads dump/manifest.json and dump/tensors.safetensors. An earlier bundle at the output is replaced; a folder that holds anything else is refused.",
    exit_codes!()
);

/// The arguments of `certkern import abcrown`.
#[derive(clap::Args)]
pub(crate) struct Abcrown {
    /// The folder of the dump
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// The network of the run
    #[arg(long, value_name = "NET")]
    onnx: PathBuf,
    /// The property of the run, in VNN-LIB
    #[arg(long, value_name = "FILE")]
    property: PathBuf,
    /// The bundle to write
    #[arg(short, long, value_name = "BUNDLE")]
    output: PathBuf,
}

impl Abcrown {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let progress = Progress::start("importing");
        let (manifest, tensors) = (self.dump.join("manifest.json"), self.dump.join("tensors.safetensors"));
        // The hook puts the manifest in place last, and takes its folder of parts away then.
        if !manifest.exists() && self.dump.join(".partial").is_dir() {
            let dump = self.dump.display();
            let text =
                format!("{dump} holds no finished dump: manifest.json is missing; the run was cut off, run it again");
            return Err(Failure::Import(text));
        }
        let read = |path: &Path| input::file(path, &limits);
        let (manifest_bytes, tensors_bytes) = (read(&manifest)?, read(&tensors)?);
        let (onnx, property) = (read(&self.onnx)?, read(&self.property)?);
        output::keep_clear(&self.output, &[&self.dump, &self.onnx, &self.property])?;
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = SourceNames {
            onnx: name(&self.onnx),
            property: name(&self.property),
            manifest: name(&manifest),
            tensors: name(&tensors),
        };
        let bundle = certkern_abcrown::convert(&manifest_bytes, &tensors_bytes, &onnx, &property, &names)
            .map_err(|error| Failure::Import(format!("{}: {error}", self.dump.display())))?;
        certkern_abcrown::write(&bundle, &self.output).map_err(|error| Failure::io("write", &self.output, &error))?;
        drop(progress);
        output::print(&digest::text(&digest::of_bundle(bundle.files, &limits)?))?;
        Ok(0)
    }
}
