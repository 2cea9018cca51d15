//! `torchlean.bound.v1`: bounds that are bound to nothing, with the graph and the region that they are said to be about.

use crate::bundle::{Network, Source, Specification, single_leaf};
use crate::error::ImportError;
use crate::{Certificate, Given};
use certkern_wire::json::Json;
use certkern_wire::{Limits, bound};

/// A bundle of kind `bound`.
///
/// # Errors
/// What the kernel's readers refuse.
pub(crate) fn convert(
    document: &Json,
    source: &Source<'_>,
    given: &Given<'_>,
    limits: &Limits,
) -> Result<Certificate, ImportError> {
    let outputs = bound::read(document, limits)?.0.len();
    let network = Network::given(given, source.kind, limits)?;
    let (_, region) =
        given.region.ok_or_else(|| ImportError::Lacks { kind: source.kind, missing: vec!["--region"] })?;
    let specification = Specification::Bounds { region: region.to_vec(), bounds: source.artifact.1.to_vec() };
    network.claim(specification, single_leaf(2 * outputs, "plain"), None, source, limits)
}
