//! Claims about a network that is almost that of a true claim, on a region that is almost the same. The true claim has room: with the bounds
//! of its rows raised by a margin it is still true. How far values can move is bounded node by node.

use super::kinds::values;
use super::line::{Form, lost};
use crate::number::{Rational, near, whole};
use crate::statement::{Problem, Row};
use certkern_fuzz::meaning::{self, Array};
use certkern_fuzz::net::Node;
use std::collections::BTreeSet;

/// What a sum of a few thousand terms can lose in binary64, by far.
const LOSS: f64 = 1.0 + 1e-9;

/// Whether a claim follows from one that is true although `margin` is added to the bounds of its rows about outputs.
pub(super) fn follows(claim: &Problem, from: &Problem, margin: &Rational) -> bool {
    if claim.point.is_some()
        || claim.about != from.about
        || claim.region.ends.len() != from.region.ends.len()
        || !plain(claim)
        || !plain(from)
    {
        return false;
    }
    let Some(Moved { x, off, sizes }) = moved(claim, from) else { return false };
    let close = |row: &Row, wanted: &Row| {
        let of = |row: &Row, variable: (bool, usize)| {
            row.terms.iter().find(|(own, _)| *own == variable).map_or(0.0, |(_, c)| near(c))
        };
        let mut room = near(margin) - (near(&row.bound) - near(&wanted.bound)).max(0.0) * LOSS;
        let variables: BTreeSet<(bool, usize)> =
            row.terms.iter().chain(&wanted.terms).map(|(variable, _)| *variable).collect();
        for variable in variables {
            let (c, known) = (of(row, variable), of(wanted, variable));
            let (size, off) = match variable {
                (true, index) => (sizes[index], off[index]),
                (false, index) => (x[index].0, x[index].1),
            };
            room -= ((c - known).abs() * (size + off) + known.abs() * off) * LOSS + 1e-12;
        }
        room > 0.0
    };
    claim.disjuncts.iter().all(|rows| {
        from.disjuncts.iter().any(|known| {
            // Rows about inputs alone hold on the whole region.
            known.iter().filter(|row| row.speaks_of_output()).all(|wanted| rows.iter().any(|row| close(row, wanted)))
        })
    })
}

/// Regions that are boxes, and disjuncts whose rows about inputs alone say nothing more than the box does.
fn plain(problem: &Problem) -> bool {
    let implied = |row: &Row| match row.terms.as_slice() {
        [((false, index), c)] => {
            let (low, high) = &problem.region.ends[*index];
            !row.strict && c * (if *c > whole(0) { high } else { low }) <= row.bound
        }
        _ => row.speaks_of_output(),
    };
    problem.region.ball.is_none()
        && problem.region.constraints.is_empty()
        && problem.disjuncts.iter().flatten().all(implied)
}

/// For each input its greatest magnitude and how far it is moved; for each output how far it is moved, and its greatest magnitude.
struct Moved {
    x: Vec<(f64, f64)>,
    off: Vec<f64>,
    sizes: Vec<f64>,
}

/// Every point of the claim's region has one of the other within `x`; what that does to the values of both networks.
fn moved(claim: &Problem, from: &Problem) -> Option<Moved> {
    let apart = |(own, known): (&(Rational, Rational), &(Rational, Rational))| {
        let beyond = near(&(&known.0 - &own.0)).max(near(&(&own.1 - &known.1))).max(0.0);
        (near(&known.0).abs().max(near(&known.1).abs()) * LOSS, beyond * LOSS)
    };
    let x: Vec<(f64, f64)> = claim.region.ends.iter().zip(&from.region.ends).map(apart).collect();
    let (net, known) = (&claim.net, &from.net);
    if net.nodes.len() != known.nodes.len() || net.input != known.input {
        return None;
    }
    // Magnitudes in the network of the true claim, from forms over its region.
    let n = x.len();
    let inputs = from
        .region
        .ends
        .iter()
        .enumerate()
        .map(|(place, (low, high))| Form::<f64>::input(low, high, place, n))
        .collect();
    let sizes: Vec<Array<f64>> = values(known, inputs)?
        .into_iter()
        .map(|array| Array {
            shape: array.shape,
            values: array.values.iter().map(|form| form.least.abs().max(form.most.abs())).collect(),
        })
        .collect();
    if lost() {
        return None;
    }
    let mut off: Vec<Array<f64>> = Vec::new();
    for (id, (node, other)) in net.nodes.iter().zip(&known.nodes).enumerate() {
        if node.kind != other.kind
            || node.parents != other.parents
            || node.shape != other.shape
            || node.attributes != other.attributes
        {
            return None;
        }
        let moved = if id == net.input {
            Array { shape: node.shape.clone(), values: x.iter().map(|(_, off)| *off).collect() }
        } else {
            step(node, other, &sizes, &off)?
        };
        off.push(Array { values: moved.values.iter().map(|value| value * LOSS).collect(), ..moved });
    }
    let gathered = |arrays: &[Array<f64>]| claim.about.iter().flat_map(|id| arrays[*id].values.clone()).collect();
    Some(Moved { off: gathered(&off), sizes: gathered(&sizes), x })
}

/// How far the value of a node is moved: `|W'|·off + |W' − W|·size + |b' − b|` for affine nodes, no farther than the argument for a function with slopes within ±1.
fn step(node: &Node, other: &Node, sizes: &[Array<f64>], off: &[Array<f64>]) -> Option<Array<f64>> {
    let parent = |arrays: &[Array<f64>]| arrays.get(*node.parents.first()?).cloned();
    match node.kind {
        "relu" | "detach" | "tanh" | "sin" => Some(Array { shape: node.shape.clone(), values: parent(off)?.values }),
        "reshape" | "flatten" => meaning::of(node, &[&parent(off)?]),
        "linear" | "conv" => {
            let (mut positive, mut difference) = (node.clone(), node.clone());
            for (place, (name, numbers)) in node.payload.iter().enumerate() {
                let known = &other.payload.get(place)?.1;
                let bias = *name == "bias";
                let magnitude = |value: &f64| if bias { 0.0 } else { value.abs() };
                positive.payload[place].1.values = numbers.values.iter().map(magnitude).collect();
                difference.payload[place].1.values =
                    numbers.values.iter().zip(&known.values).map(|(a, b)| (a - b).abs()).collect();
                (numbers.exact.is_none() && known.exact.is_none() && numbers.shape == known.shape).then_some(())?;
            }
            let (first, second) =
                (meaning::of(&positive, &[&parent(off)?])?, meaning::of(&difference, &[&parent(sizes)?])?);
            Some(Array {
                values: first.values.iter().zip(&second.values).map(|(a, b)| (a + b) * LOSS).collect(),
                ..first
            })
        }
        _ => None,
    }
}
