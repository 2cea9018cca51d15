//! `prelu`, on one channel: `leaky_relu` with the learned slope of that channel.

use super::Declaration;

pub(super) const FUNCTION: Declaration = Declaration { name: "prelu", ..super::leaky_relu::FUNCTION };
