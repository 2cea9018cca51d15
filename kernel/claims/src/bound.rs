//! Kind `bound`: the outputs lie within given bounds on a whole region. As a bundle it is checked like kind `leaves`; bounds alone are bound to nothing.

use certkern_seal::Theorem;
use certkern_wire::bound;
pub(crate) use certkern_wire::bound::FORMAT;
use certkern_wire::json::Json;
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Reason, Rejection};

/// Refuses bounds that stand alone: for their own faults, or else for what they lack.
pub(crate) fn alone(document: &Json, limits: &Limits) -> Result<Theorem, Rejection> {
    bound::read(document, limits)?;
    Err(Reason::BoundUnbound.into())
}
