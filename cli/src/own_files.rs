//! The user's own network and property, read afresh and compared with what a theorem is about.

use crate::import::onnx::{self, FrozenFile};
use crate::input::Named;
use certkern_graph::Graph;
use certkern_seal::{Theorem, Verdict};
use certkern_wire::{Limits, Reason, Rejection, Role};

/// Files of the user, as far as they are given.
pub(crate) struct OwnFiles {
    /// A network, in ONNX.
    pub(crate) onnx: Option<Named>,
    /// The tensors of those of its inputs that are frozen.
    pub(crate) frozen: Vec<FrozenFile>,
    /// A property: JSON by the ending .json of its name, else VNN-LIB.
    pub(crate) property: Option<Named>,
}

impl OwnFiles {
    /// The verdict, with the files compared where it accepts: a theorem about something else is a rejection `bind.<role>`.
    pub(crate) fn compare(&self, verdict: Verdict, limits: &Limits) -> Verdict {
        match verdict {
            Verdict::Accepted(theorem) => self.compare_theorem(*theorem, limits).into(),
            rejected @ Verdict::Rejected(_) => rejected,
        }
    }

    fn compare_theorem(&self, mut theorem: Theorem, limits: &Limits) -> Result<Theorem, Rejection> {
        if let Some((name, bytes)) = &self.onnx {
            let imported = onnx::import_frozen(bytes, &self.frozen).map_err(|error| Reason::BindUnreadable {
                role: Role::Graph,
                file: name.clone(),
                detail: error.to_string(),
            })?;
            let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), limits);
            theorem = theorem.compared_with_model(&graph.map_err(|rejection| rejection.in_file(name))?, name)?;
        }
        if let Some((name, bytes)) = &self.property {
            let property = certkern_claims::read_property_about(name, bytes, theorem.interface(), limits)?;
            theorem = theorem.compared_with_property(&property, name)?;
        }
        Ok(theorem)
    }
}
