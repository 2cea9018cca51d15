//! Probes: outputs that the user's own network gave in floats, compared with what a theorem is about.

use crate::folder::{Folder, MANIFEST, named_in};
use crate::input::{Input, Named};
use certkern_cudakern::{Difference, Probe};
use certkern_graph::Graph;
use certkern_seal::{Theorem, Verdict};
use certkern_wire::tensors::Source;
use certkern_wire::{Limits, Reason, Rejection, Role};

/// Bits of the balls that a run is compared with.
const BITS: u64 = 128;

/// The verdict, with the probes compared where it accepts: outputs that no run of the graph can give are a rejection `bind.graph`.
pub(crate) fn compare(verdict: Verdict, probes: &[Named], input: &Input, limits: &Limits) -> Verdict {
    match verdict {
        Verdict::Accepted(theorem) if !probes.is_empty() => compared(*theorem, probes, input, limits).into(),
        verdict => verdict,
    }
}

fn compared(mut theorem: Theorem, probes: &[Named], input: &Input, limits: &Limits) -> Result<Theorem, Rejection> {
    let graph = graph(input, limits)?;
    let lowered = graph.lower()?;
    for (name, bytes) in probes {
        let unreadable = |detail: String| Reason::BindUnreadable { role: Role::Graph, file: name.clone(), detail };
        let read = Probe::read(bytes, limits).map_err(|rejection| rejection.in_file(name))?;
        let numbers = read.compare(&graph, &lowered, BITS).map_err(|failure| unreadable(failure.to_string()))?;
        if let Some((place, number)) = numbers.iter().enumerate().find(|(_, number)| !number.is_within()) {
            return Err(differs(name, place, number).into());
        }
        theorem = theorem.compared_at_point(&graph, name)?;
    }
    Ok(theorem)
}

fn differs(file: &str, place: usize, number: &Difference) -> Reason {
    let value = certkern_cudakern::to_binary64(&number.ball.lower);
    Reason::BindFile {
        role: Role::Graph,
        file: file.to_owned(),
        expected: format!("{value:e} for output {place}, from which a run may differ by {:e}", number.bound),
        actual: format!("a number that differs by {:e}", number.about()),
    }
}

/// The graph of a bundle that the kernel has accepted, or of a document.
fn graph(input: &Input, limits: &Limits) -> Result<Graph, Rejection> {
    let Folder { files, streamed } = match input {
        Input::File(bytes) => return Graph::read(bytes, None, limits),
        Input::Folder(folder) => folder,
    };
    let missing = || Rejection::from(Reason::Internal("an accepted bundle without a file"));
    let manifest = files.get(MANIFEST).ok_or_else(missing)?;
    let [graph, payload] = ["graph", "payload"].map(|role| named_in(manifest, role, limits));
    let (graph, payload) = (graph?, payload?);
    let payload: &dyn Source = match (streamed.get(&payload), files.get(&payload)) {
        (Some(file), _) => file,
        (None, Some(bytes)) => bytes,
        (None, None) => return Err(missing()),
    };
    Graph::read(files.get(&graph).ok_or_else(missing)?, Some(payload), limits)
}
