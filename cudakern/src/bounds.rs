//! How far any run in a format can be from the real numbers: an error bound that runs along the program (FLOAT in the rules).
//!
//! What a run is free to do: the point and the numbers of the payload are rounded once each; every sum of products is taken in any order, fused or
//! not (but classically: no Strassen, no Winograd); every function is as near as `functions::roundings` says; results below the least normal number
//! may be flushed to zero; softmax, layer norm and batch norm may be computed by the usual formulas (`composite`) in the stead of that of the
//! program; maxima, minima and absolute values are taken as such. With `u` the unit roundoff, `v` the value of a node, `e` its bound and `γ_k =
//! k·u/(1 − k·u)` (Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1):
//!
//! - sum of `n` terms `c·v` and a constant: `Σ|c|·e + γ_k·(Σ|c|·(|v| + e) + |b|)`, `k` the most roundings on the way of a term;
//! - product: `|p|·e_q + |q|·e_p + e_p·e_q + u·(|p| + e_p)·(|q| + e_q)`;
//! - function: what `f` takes on `[v − e, v + e]` differs from `f(v)` by, in the kernel's enclosure, and its own roundings;
//! - maximum: the largest `e` of the members.
//!
//! The bound itself is computed in binary64 and then made larger by a relative `2⁻³⁰`.

use crate::backend::Failure;
use crate::composite;
use crate::cpu::maxima;
use crate::functions::roundings;
use crate::layout::{Layout, Operation, Step, Term};
use crate::number::{Format, Number, to_binary64};
use certkern_core::func::Function;
use certkern_core::interval::Interval;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{NodeId, Primitive, Program};
use certkern_graph::{Graph, Lowered};
use std::collections::BTreeMap;
use std::ops::Range;

/// What covers the roundings of the bound's own arithmetic.
const MORE: f64 = 1.0 + 1.0 / (1 << 30) as f64;

/// The kernel's balls around the values of all nodes at a point, and for each how far a run can be off.
#[derive(Clone, Debug)]
pub struct Bounds {
    places: Vec<Range<usize>>,
    balls: Vec<Interval>,
    errors: Vec<f64>,
}

impl Bounds {
    /// The bounds of runs of `lowered`, the meaning of `graph`, at `point`, from balls of `bits` bits.
    ///
    /// # Errors
    /// [`Failure::Unenclosed`] if the kernel has no balls; [`Failure::Range`] and [`Failure::Size`] as [`Layout::new`].
    pub fn new(
        graph: &Graph,
        lowered: &Lowered,
        point: &[Rational],
        format: Format,
        bits: u64,
    ) -> Result<Self, Failure> {
        let nodes = lowered.program.nodes();
        let whole = Program::new(nodes.to_vec(), (0..nodes.len()).collect()).map_err(|_| Failure::Program)?;
        let balls = whole.enclose(point, bits).ok_or(Failure::Unenclosed)?;
        let layout = Layout::<f64>::new(&whole)?;
        let middles = balls.iter().map(middle).collect();
        let mut walk = Walk { format, middles, errors: vec![0.0; layout.size] };
        let composites: BTreeMap<NodeId, usize> = lowered
            .values
            .iter()
            .enumerate()
            .filter(|(id, _)| composite::is_one(&graph.nodes()[*id]))
            .map(|(id, value)| (*value, id))
            .collect();
        for ((id, node), step) in nodes.iter().enumerate().zip(&layout.steps) {
            let mut errors = match (&step.operation, &node.primitive) {
                (Operation::Input, _) => point.iter().map(|x| walk.of_input(x)).collect(),
                (Operation::Univariate { name, parameters, source }, Primitive::Univariate { function, .. }) => {
                    walk.of_function((function, *name, parameters), &balls, source, &step.place)
                }
                (operation, _) => walk.of_operation(operation, step)?,
            };
            if let Some(id) = composites.get(&id) {
                let node = &graph.nodes()[*id];
                let parents =
                    node.parents().iter().map(|parent| walk.known(&layout.steps[lowered.values[*parent]].place));
                composite::adjust(
                    node,
                    &parents.collect::<Vec<_>>(),
                    &walk.middles[step.place.clone()],
                    &mut errors,
                    format,
                );
            }
            for (error, middle) in errors.iter_mut().zip(&walk.middles[step.place.clone()]) {
                let fits = *error + middle.abs() <= format.largest();
                *error = if fits { *error * MORE } else { f64::INFINITY };
            }
            walk.errors[step.place.clone()].copy_from_slice(&errors);
        }
        let places = layout.steps.into_iter().map(|step| step.place).collect();
        Ok(Self { places, balls, errors: walk.errors })
    }

    /// The kernel's balls around the value of a program node, and how far a run can be off.
    #[must_use]
    pub fn of(&self, node: NodeId) -> (&[Interval], &[f64]) {
        let place = self.places[node].clone();
        (&self.balls[place.clone()], &self.errors[place])
    }
}

/// Midpoints and errors of the nodes so far, by the places of the layout.
struct Walk {
    format: Format,
    middles: Vec<f64>,
    errors: Vec<f64>,
}

/// What is known of one value.
pub(crate) struct Known<'a> {
    pub(crate) middles: &'a [f64],
    pub(crate) errors: &'a [f64],
}

impl Known<'_> {
    /// The largest magnitudes that a run can have.
    fn sizes(&self) -> Vec<f64> {
        self.middles.iter().zip(self.errors).map(|(middle, error)| middle.abs() + error).collect()
    }
}

fn middle(ball: &Interval) -> f64 {
    to_binary64(&(&(&ball.lower + &ball.upper) * &Dyadic::new(1, -1)))
}

impl Walk {
    fn known(&self, place: &Range<usize>) -> Known<'_> {
        Known { middles: &self.middles[place.clone()], errors: &self.errors[place.clone()] }
    }

    /// What is lost when a coordinate of the point is rounded.
    fn of_input(&self, x: &Rational) -> f64 {
        match self.format.nearest(x) {
            Some(nearest) if nearest == *x => 0.0,
            _ => self.rounding(1.0, f64::nearest(x).unwrap_or(f64::INFINITY).abs()),
        }
    }

    /// What `count` roundings of something of this size lose; infinite where it may overflow.
    fn rounding(&self, count: f64, size: f64) -> f64 {
        if size > self.format.largest() {
            return f64::INFINITY;
        }
        let lost = count * self.format.unit();
        lost / (1.0 - lost) * size + count * self.format.least()
    }

    fn of_operation(&self, operation: &Operation<f64>, step: &Step<f64>) -> Result<Vec<f64>, Failure> {
        Ok(match operation {
            Operation::Affine { terms, bias } => self.of_affine(terms, bias.as_deref(), step.place.len()),
            Operation::Product { left, right } => {
                let (left, right) = (self.known(left), self.known(right));
                let sizes = left.sizes().into_iter().zip(right.sizes());
                let errors = left.errors.iter().zip(right.errors).zip(left.middles.iter().zip(right.middles));
                let error = |((p_size, q_size), ((p_error, q_error), (p, q))): ((f64, f64), _)| -> f64 {
                    let (p_error, q_error, p, q): (&f64, &f64, &f64, &f64) = (p_error, q_error, p, q);
                    p.abs() * q_error + q.abs() * p_error + p_error * q_error + self.rounding(1.0, p_size * q_size)
                };
                sizes.zip(errors).map(error).collect()
            }
            Operation::Max { source, ends, members } => {
                let mut errors = vec![0.0; step.place.len()];
                maxima(&self.errors[source.clone()], ends, members, &mut errors);
                errors
            }
            Operation::Input | Operation::Univariate { .. } => return Err(Failure::Program),
        })
    }

    fn of_affine(&self, terms: &[Term<f64>], bias: Option<&[f64]>, width: usize) -> Vec<f64> {
        let zeros = || vec![0.0; width];
        // Errors carried on, sizes of the terms, their number, and of how many the coefficient rounds its product, or is rounded itself.
        let (mut carried, mut sizes, mut count) = (zeros(), zeros(), zeros());
        let (mut products, mut coefficients) = (zeros(), zeros());
        let bit = |condition: bool| if condition { 1.0 } else { 0.0 };
        for Term { source, map } in terms {
            let known = self.known(source);
            let ones = vec![1.0; source.len()];
            map.add_image(known.errors, &mut carried, f64::abs);
            map.add_image(&known.sizes(), &mut sizes, f64::abs);
            map.add_image(&ones, &mut count, |c| bit(c != 0.0));
            map.add_image(&ones, &mut products, |c| bit(!is_power(c)));
            map.add_image(&ones, &mut coefficients, |c| bit(!self.holds(c)));
        }
        let error = |i: usize| {
            let bias = bias.map_or(0.0, |bias| bias[i]);
            let sums = (count[i] + bit(bias != 0.0) - 1.0).max(0.0);
            let once = |many: f64| many.min(1.0);
            let own = once(products[i]) + once(coefficients[i]).max(bit(!self.holds(bias)));
            carried[i] + if sums + own == 0.0 { 0.0 } else { self.rounding(sums + own, sizes[i] + bias.abs()) }
        };
        (0..width).map(error).collect()
    }

    /// Whether a number is one of the format. Of one that binary64 may have rounded only powers of two are known to be.
    fn holds(&self, number: f64) -> bool {
        match self.format {
            Format::Float32 => f32::rounded(number).wide() == number,
            Format::Float64 => is_power(number),
        }
    }

    fn of_function(
        &self,
        (function, name, parameters): (&Function, &str, &[f64]),
        balls: &[Interval],
        source: &Range<usize>,
        place: &Range<usize>,
    ) -> Vec<f64> {
        let known = self.known(source);
        let arguments = balls[source.clone()].iter().zip(known.errors.iter().zip(known.middles));
        let error = |((argument, (error, middle)), value): ((&Interval, (&f64, &f64)), &Interval)| {
            let (relative, absolute) = roundings(name, middle - error, middle.abs() + error, parameters);
            let carried = if *error == 0.0 { 0.0 } else { spread(function, argument, *error, value) };
            let size = self::middle(value).abs() + carried;
            let own = relative * size + absolute;
            carried + if own == 0.0 { 0.0 } else { self.rounding(1.0, own) }
        };
        arguments.zip(&balls[place.clone()]).map(error).collect()
    }
}

/// Whether a product with the number is exact: it is 0 or, but for its sign, a power of two.
fn is_power(number: f64) -> bool {
    number == 0.0 || number.to_bits() << 12 == 0
}

/// How far a value on the argument widened by `error` lies from `value` at most; infinite where the function is not defined on all of that.
fn spread(function: &Function, argument: &Interval, error: f64, value: &Interval) -> f64 {
    let Some(error) = Dyadic::from_f64_bits(error.to_bits()) else { return f64::INFINITY };
    let wide = Interval { lower: &argument.lower - &error, upper: &argument.upper + &error };
    match function.is_defined_on(&wide).then(|| function.image(&wide)).flatten() {
        Some(image) => to_binary64(&(&image.upper - &value.lower).max(&value.upper - &image.lower)),
        None => f64::INFINITY,
    }
}
