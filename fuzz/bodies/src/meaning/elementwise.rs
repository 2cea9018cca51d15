//! Operators that work on each element.

use super::{Number, parameter};
use crate::net::Node;

/// The value of an elementwise operator of one parent; `None` if it is unknown here, such as the opaque ones.
pub(super) fn value<N: Number>(node: &Node, x: &N) -> Option<N> {
    let parameter = |name| parameter::<N>(node, name);
    let clip = |x: &N, low: N, high: N| x.clone().greater(low).lesser(high);
    Some(match node.kind {
        "relu" => x.clone().greater(N::zero()),
        "abs" => x.clone().greater(negative(x)),
        "neg" => negative(x),
        "exp" | "sin" | "cos" | "tanh" | "erf" | "log" | "sqrt" => return x.apply(node.kind),
        "sigmoid" => sigmoid(x)?,
        "softplus" => softplus(x)?,
        "inv" => N::one().over(x)?,
        "pow" => x.power(&parameter("exponent")?)?,
        "leaky_relu" => leaky(x, &parameter("alpha")?),
        "elu" => elu(x, &parameter("alpha")?)?,
        "selu" => elu(x, &parameter("alpha")?)?.times(&parameter("gamma")?),
        "clip" => clip(x, parameter("low")?, parameter("high")?),
        "hard_sigmoid" => clip(&x.times(&parameter("alpha")?).plus(&parameter("beta")?), N::zero(), N::one()),
        "hard_swish" => {
            let bent = clip(&x.plus(&N::of(3.0)), N::zero(), N::of(6.0));
            x.times(&bent).over(&N::of(6.0))?
        }
        "gelu" => {
            let inner = x.over(&N::of(2.0).apply("sqrt")?)?.apply("erf")?;
            x.times(&inner.plus(&N::one())).over(&N::of(2.0))?
        }
        "gelu_tanh" => {
            // binary64 alone: √(2/π).
            let cube = x.times(x).times(x).times(&N::of(0.044_715));
            let root = N::of(2.0).over(&N::of(std::f64::consts::PI))?.apply("sqrt")?;
            let inner = x.plus(&cube).times(&root).apply("tanh")?;
            x.times(&inner.plus(&N::one())).over(&N::of(2.0))?
        }
        "silu" => x.times(&sigmoid(x)?),
        "mish" => x.times(&softplus(x)?.apply("tanh")?),
        _ => return None,
    })
}

fn negative<N: Number>(x: &N) -> N {
    N::zero().minus(x)
}

pub(super) fn leaky<N: Number>(x: &N, slope: &N) -> N {
    if *x < N::zero() { x.times(slope) } else { x.clone() }
}

fn elu<N: Number>(x: &N, alpha: &N) -> Option<N> {
    Some(if *x < N::zero() { x.apply("exp")?.minus(&N::one()).times(alpha) } else { x.clone() })
}

/// With the exponential that does not overflow.
fn sigmoid<N: Number>(x: &N) -> Option<N> {
    if *x < N::zero() {
        let power = x.apply("exp")?;
        return power.over(&power.plus(&N::one()));
    }
    N::one().over(&negative(x).apply("exp")?.plus(&N::one()))
}

pub(super) fn softplus<N: Number>(x: &N) -> Option<N> {
    let power = if *x < N::zero() { x.apply("exp")? } else { negative(x).apply("exp")? };
    Some(x.clone().greater(N::zero()).plus(&power.plus(&N::one()).apply("log")?))
}
