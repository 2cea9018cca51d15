//! The functions of the kernel's library in floats, each by its usual formula.

use crate::number::Number;

/// A function of a number and parameters.
pub(crate) type Scalar<T> = fn(T, &[T]) -> T;

/// The function of this name; `None` if there is none.
pub(crate) fn scalar<T: Number>(name: &str) -> Option<Scalar<T>> {
    Some(match name {
        "relu" => |x, _| if x < T::zero() { T::zero() } else { x },
        "acos" => |x, _| x.acos(),
        "acosh" => |x, _| x.acosh(),
        "asin" => |x, _| x.asin(),
        "asinh" => |x, _| x.asinh(),
        "atan" => |x, _| x.atan(),
        "atanh" => |x, _| x.atanh(),
        "celu" => |x, p| below(x, p[0] * (x / p[0]).exp_m1()),
        "clip" => |x, p| clip(x, p[0], p[1]),
        "cos" => |x, _| x.cos(),
        "cosh" => |x, _| x.cosh(),
        "elu" => |x, p| below(x, p[0] * x.exp_m1()),
        "erf" => |x, _| x.erf(),
        "erfc" => |x, _| T::one() - x.erf(),
        "exp" => |x, _| x.exp(),
        "expm1" => |x, _| x.exp_m1(),
        "gelu" => |x, _| number::<T>(0.5) * x * (T::one() + (x * number(std::f64::consts::FRAC_1_SQRT_2)).erf()),
        "gelu_tanh" => |x, _| {
            let inner = number::<T>(0.797_884_560_802_865_4) * (x + number::<T>(0.044_715) * x * x * x);
            number::<T>(0.5) * x * (T::one() + inner.tanh())
        },
        "hard_sigmoid" => |x, p| clip(p[0] * x + p[1], T::zero(), T::one()),
        "hard_swish" => |x, _| x * clip(x + number(3.0), T::zero(), number(6.0)) / number(6.0),
        "inv" => |x, _| x.recip(),
        "leaky_relu" | "prelu" => |x, p| below(x, p[0] * x),
        "log" => |x, _| x.ln(),
        "log1p" => |x, _| x.ln_1p(),
        "log2" => |x, _| x.log2(),
        "mish" => |x, _| x * softplus(x).tanh(),
        "power" => |x, p| x.powf(p[0]),
        "rsqrt" => |x, _| x.sqrt().recip(),
        "selu" => |x, p| p[1] * below(x, p[0] * x.exp_m1()),
        "sigmoid" => |x, _| sigmoid(x),
        "silu" => |x, _| x * sigmoid(x),
        "sin" => |x, _| x.sin(),
        "sinh" => |x, _| x.sinh(),
        "softplus" => |x, _| softplus(x),
        "softsign" => |x, _| x / (T::one() + x.abs()),
        "sqrt" => |x, _| x.sqrt(),
        "tan" => |x, _| x.tan(),
        "tanh" => |x, _| x.tanh(),
        _ => return None,
    })
}

fn number<T: Number>(value: f64) -> T {
    T::rounded(value)
}

/// `other` below 0, else `x`.
fn below<T: Number>(x: T, other: T) -> T {
    if x < T::zero() { other } else { x }
}

/// NaN stays NaN.
fn clip<T: Number>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

fn sigmoid<T: Number>(x: T) -> T {
    (T::one() + (-x).exp()).recip()
}

fn softplus<T: Number>(x: T) -> T {
    x.max(T::zero()) + (-x.abs()).exp().ln_1p()
}

/// How far a run of the function can be from its value at the number that it was given, which is `low` at least and `size` in magnitude at most, in
/// unit roundoffs: so many of the result, and so many of another magnitude, that of what the usual formulas add up on the way.
///
/// An arithmetic operation or a square root is rounded once. A function of a mathematical library is granted 4 units in the last place, which are 8
/// unit roundoffs (glibc, SLEEF and numpy stay below), and a composition of them twice that. Vectorised `erf`, `sin` and `cos` are good to some
/// units of 1, not of the result; `exp(x) − 1` and `ln(1 + exp(x))` lose what they round at 1, and `x·(1 + g(x))/2` what it rounds at `x`.
pub(crate) fn roundings(name: &str, low: f64, size: f64, parameters: &[f64]) -> (f64, f64) {
    let parameter = |place: usize| parameters.get(place).copied().unwrap_or(0.0).abs();
    match name {
        "relu" => (0.0, 0.0),
        // A slope of 1, −1 or 0 selects, or turns a sign.
        "leaky_relu" | "prelu" if parameter(0) == 1.0 || parameter(0) == 0.0 => (0.0, 0.0),
        "clip" => (1.0, 0.0),
        "inv" | "leaky_relu" | "prelu" | "sqrt" => (2.0, 0.0),
        "rsqrt" | "softsign" => (4.0, 0.0),
        "hard_sigmoid" => (2.0, 3.0 * (parameter(0) * size + parameter(1))),
        "hard_swish" => (8.0, 0.0),
        "sigmoid" | "silu" => (16.0, 0.0),
        "gelu" | "gelu_tanh" | "mish" => (16.0, 8.0 * size),
        "softplus" => (16.0, 8.0),
        "elu" | "celu" | "selu" if low > 0.0 => (2.0, 0.0),
        "elu" | "celu" => (16.0, 8.0 * parameter(0)),
        "selu" => (16.0, 8.0 * parameter(0) * parameter(1)),
        "sin" | "cos" | "erf" | "erfc" | "expm1" => (8.0, 8.0),
        _ => (8.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use certkern_core::func::{Elementary, names};
    use certkern_core::num::{Dyadic, Rational};

    /// Every function of the kernel's library is known here, and lies at some points as near to the kernel's ball as is granted.
    fn agrees<T: Number>() {
        let points: [f64; 11] = [-3.5, -1.25, -0.75, -0.0625, 0.0, 0.1875, 0.5, 0.96875, 1.5, 2.75, 9.5];
        let (mut compared, mut functions) = (0, 0);
        for name in names() {
            let parameters: &[f64] = match name {
                "celu" | "elu" | "leaky_relu" | "prelu" => &[0.25],
                "power" => &[-1.5],
                "clip" => &[-0.5, 1.25],
                "hard_sigmoid" | "selu" => &[0.75, 0.5],
                _ => &[],
            };
            let exact = |x: &f64| Dyadic::from_f64_bits(x.to_bits()).unwrap().to_rational();
            let own = scalar::<T>(name).unwrap_or_else(|| panic!("{name} is not known"));
            let kernel = Elementary::new(name, parameters.iter().map(exact).collect::<Vec<Rational>>()).unwrap();
            let given: Vec<T> = parameters.iter().map(|p| T::rounded(*p)).collect();
            let before = compared;
            for x in points {
                let Ok(ball) = kernel.at(&Dyadic::from_f64_bits(x.to_bits()).unwrap(), 80) else { continue };
                let value = crate::to_binary64(ball.midpoint());
                let found = own(T::rounded(x), &given).wide();
                let (relative, absolute) = roundings(name, x, x.abs(), parameters);
                let most = T::FORMAT.unit() * (relative * value.abs() + absolute);
                // The ball's own rounding into binary64.
                assert!((found - value).abs() <= most + 2e-16 * value.abs(), "{name}({x}): {found} {value}");
                compared += 1;
            }
            assert!(compared > before, "{name}");
            functions += 1;
        }
        assert!(functions >= 38, "{functions}");
    }

    #[test]
    fn every_function_lies_near_the_kernels() {
        agrees::<f32>();
        agrees::<f64>();
    }
}
