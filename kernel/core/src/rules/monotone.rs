//! MONOTONE: outputs that never fall where no input falls, over all of ℝⁿ.
//!
//! Let `x ≤ x′` in every coordinate, and `δ(v) = v(x′) − v(x)` for a value `v`. Each coordinate of each node has two marks: it *rises* only if `δ ≥ 0` for all such `x`, `x′`, and
//! *falls* only if `δ ≤ 0`. By induction over the nodes:
//!
//! - input: `δ ≥ 0` is the premise, so every coordinate rises;
//! - affine, `v = Σ aⱼ pⱼ + b`: `δ(v) = Σ aⱼ δ(pⱼ)`, for the constant cancels. A term is ≥ 0 where `aⱼ > 0` and `pⱼ` rises, or `aⱼ < 0` and `pⱼ` falls; if every term is, so is the
//!   sum. For ≤ 0 likewise; without terms both hold;
//! - `f(p)` with `f` defined and nondecreasing on the whole line: `δ(f(p))` has the sign of `δ(p)`, or is 0;
//! - the maximum of some `pⱼ`: where none of them is smaller at `x′` than at `x`, the greatest is not either; where none is larger, likewise.
//!
//! Any other primitive is refused, wherever it stands, so that the program is defined everywhere. No completeness is lost by one mark for all inputs together: an output that rises
//! in each input by signs of coefficients is made of values that all rise, or all fall, in each.

use crate::affine::Affine;
use crate::func::Function;
use crate::num::{Dyadic, Rational};
use crate::program::{NodeId, Primitive, Program};

/// Whether a coordinate is shown to rise, and whether it is shown to fall.
type Marks = [bool; 2];

const BOTH: Marks = [true; 2];

fn and([rises, falls]: Marks, other: Marks) -> Marks {
    let [also_rises, also_falls] = other;
    [rises && also_rises, falls && also_falls]
}

/// The marks of `factor` times a coordinate.
fn times([rises, falls]: Marks, factor: &Dyadic) -> Marks {
    match (factor.is_zero(), factor.is_negative()) {
        (true, _) => BOTH,
        (_, true) => [falls, rises],
        _ => [rises, falls],
    }
}

/// MONOTONE: whenever `x ≤ x′` in every coordinate, the program is defined at both, and every output at `x` is at most that at `x′`.
///
/// # Errors
/// The first node that is no monotone primitive, or the first output and its coordinate that are not shown to rise.
pub fn monotone(program: &Program) -> Result<(), (NodeId, usize)> {
    let mut marks: Vec<Vec<Marks>> = Vec::with_capacity(program.nodes().len());
    for (id, node) in program.nodes().iter().enumerate() {
        let own = match &node.primitive {
            Primitive::Input => Some(vec![[true, false]; node.width]),
            Primitive::Affine(affine) => image(affine, node.width, &marks),
            Primitive::Univariate { function, argument } if rises_everywhere(function) => marks.get(*argument).cloned(),
            Primitive::Max { argument, groups } => {
                let of = |member: &usize| marks.get(*argument)?.get(*member).copied();
                groups
                    .iter()
                    .map(|group| group.iter().try_fold(BOTH, |all, member| Some(and(all, of(member)?))))
                    .collect()
            }
            Primitive::Univariate { .. } | Primitive::Product { .. } => None,
        };
        marks.push(own.ok_or((id, 0))?);
    }
    for &output in program.outputs() {
        let falling = marks.get(output).ok_or((output, 0))?.iter().position(|[rises, _]| !rises);
        falling.map_or(Ok(()), |coordinate| Err((output, coordinate)))?;
    }
    Ok(())
}

/// The marks of a sum of linear maps; `None` if a map does not fit.
fn image(affine: &Affine, width: usize, marks: &[Vec<Marks>]) -> Option<Vec<Marks>> {
    let mut sums = vec![BOTH; width];
    for term in affine.terms() {
        let parent = marks.get(term.parent)?;
        for (output, sum) in sums.iter_mut().enumerate() {
            term.map.each_coefficient(output, &mut |source, factor| {
                *sum = and(*sum, times(*parent.get(source)?, &factor));
                Some(())
            })?;
        }
    }
    Some(sums)
}

/// Whether a function is defined and nondecreasing on the whole line: a list, and where there are parameters a condition on them.
fn rises_everywhere(function: &Function) -> bool {
    let Function::Library(function) = function else { return true };
    match function.name() {
        "asinh" | "atan" | "clip" | "erf" | "exp" | "hard_sigmoid" | "sigmoid" | "sinh" | "softplus" | "softsign"
        | "tanh" => true,
        // α(eˣ − 1) and αx below 0.
        "elu" | "leaky_relu" => function.parameters().iter().all(|alpha| *alpha >= Rational::default()),
        _ => false,
    }
}
