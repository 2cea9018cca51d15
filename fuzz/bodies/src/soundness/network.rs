//! Small networks.

use crate::grow::World;
use crate::meaning::{Array, Number};
use crate::net::Net;
use crate::source::Choices;
use certkern_core::num::Rational;

/// A network of a few nodes, mostly of relu, products and maxima; the library's functions cost the kernel a hundred times as much.
pub(super) fn network(u: &mut Choices<'_>, x: &[Rational]) -> Net {
    const PLAIN: [&str; 14] = [
        "linear", "linear", "linear", "linear", "relu", "relu", "relu", "relu", "relu", "add", "sub", "max_elem",
        "min_elem", "mul_elem",
    ];
    const LINEAR: [&str; 10] =
        ["linear", "abs", "leaky_relu", "clip", "hard_sigmoid", "neg", "concat", "max_n", "prelu", "relu"];
    const CURVED: [&str; 15] = [
        "tanh",
        "sigmoid",
        "exp",
        "sin",
        "cos",
        "erf",
        "softplus",
        "gelu",
        "silu",
        "elu",
        "softmax",
        "hard_swish",
        "inv",
        "pow",
        "selu",
    ];
    let values = x.iter().map(f64::ratio).collect();
    let mut world = World::new(Array { shape: vec![x.len()], values });
    let palette = match u.below(192) {
        0 => &CURVED[..],
        1..=12 => &LINEAR,
        _ => &PLAIN,
    };
    world.of_kind(u, "linear");
    for _ in 0..1 + u.below(4) {
        let kind = if u.below(2) == 0 { u.pick(palette) } else { u.pick(&PLAIN) };
        world.of_kind(u, kind);
    }
    if u.below(2) == 0 {
        world.of_kind(u, "linear");
    }
    let last = world.last();
    world.net.outputs = if u.one_in(5) { vec![u.below(last + 1), last] } else { vec![last] };
    world.net
}
