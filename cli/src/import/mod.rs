//! `certkern import`: what other programs left behind, as documents that can be checked. Nothing here is trusted.

mod abcrown;
pub(crate) mod onnx;
pub(crate) mod torchlean;

use crate::failure::Failure;

/// The importers.
#[derive(clap::Subcommand)]
pub(crate) enum Import {
    /// An ONNX network as graph.json and payload.safetensors
    #[command(after_help = onnx::HELP)]
    Onnx(onnx::Onnx),
    /// A leaf dump of an alpha,beta-CROWN run as a bundle
    #[command(after_help = abcrown::HELP)]
    Abcrown(abcrown::Abcrown),
    /// An artifact of TorchLean as a certificate
    #[command(after_help = torchlean::HELP)]
    Torchlean(Box<torchlean::Torchlean>),
}

/// The exit codes of importers.
macro_rules! exit_codes {
    () => {
        "\n\nExit codes: 0 written, 2 the input cannot be imported, 64 usage, 70 internal error. The inputs are never written to."
    };
}
use exit_codes;

impl Import {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        match self {
            Self::Onnx(onnx) => onnx.run(),
            Self::Abcrown(abcrown) => abcrown.run(),
            Self::Torchlean(torchlean) => torchlean.run(),
        }
    }
}
