//! `softsign`, `x/(1 + |x|)`.

use super::{Declaration, SIGMOID};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "softsign",
    shape: |_| Some(SIGMOID),
    value: |x, _| x / (-x.downward() + 1),
    slope: |x, _, _| x.integer(1) / (-x.downward() + 1).power(2),
};
