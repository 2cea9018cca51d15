//! Proofs that share nothing with the kernel: boxes are cut until lines over each of them refute every disjunct. Splits, slopes and multipliers of
//! the certificate are not looked at.

use super::kinds::values;
use super::line::{End, Form, Line, lost};
use crate::number::{Rational, power, whole};
use crate::statement::{Ball, Problem, Row};
use certkern_fuzz::meaning::Number;
use certkern_fuzz::net::Net;
use num_traits::{Signed, Zero};

/// Boxes that are looked at before it is given up.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) boxes: usize,
}

/// Operators whose values are rational where their arguments are, apart from those that divide by what depends on the input.
const RATIONAL: [&str; 26] = [
    "input",
    "const",
    "add",
    "sub",
    "add_n",
    "max_n",
    "min_n",
    "max_elem",
    "min_elem",
    "mul_elem",
    "detach",
    "relu",
    "abs",
    "neg",
    "leaky_relu",
    "prelu",
    "clip",
    "linear",
    "matmul",
    "conv",
    "flatten",
    "reshape",
    "max_pool",
    "avg_pool",
    "sum",
    "concat",
];

/// Whether no point of the region, on all of which the network is defined, lies in the set; `false` if that is not shown.
pub(super) fn avoids(problem: &Problem, effort: Effort) -> bool {
    let size: usize = problem.net.nodes.iter().map(|node| node.shape.iter().product::<usize>()).sum();
    let rational = problem.net.nodes.iter().all(|node| RATIONAL.contains(&node.kind)) && size <= 40;
    lost();
    // Cutting boxes of many coordinates leads nowhere.
    let boxes = if problem.region.ends.len() > 16 { 1 } else { effort.boxes };
    (rational && cut::<Rational>(problem, Effort { boxes: effort.boxes.min(200) }))
        || cut::<f64>(problem, Effort { boxes })
}

/// A box, and the disjuncts that are open on it.
struct Cell {
    ends: Vec<(Rational, Rational)>,
    open: Vec<usize>,
}

fn cut<E: End>(problem: &Problem, effort: Effort) -> bool {
    let mut cells = vec![Cell { ends: problem.region.ends.clone(), open: (0..problem.disjuncts.len()).collect() }];
    let mut looked = 0;
    while let Some(cell) = cells.pop() {
        looked += 1;
        if looked + cells.len() > effort.boxes {
            return false;
        }
        if problem.region.ball.as_ref().is_some_and(|ball| apart(&cell.ends, ball)) {
            continue;
        }
        let (open, weights) = look::<E>(problem, &cell);
        if lost() {
            return false;
        }
        if open.is_empty() {
            continue;
        }
        let widest = (0..cell.ends.len())
            .filter(|place| cell.ends[*place].0 < cell.ends[*place].1)
            .max_by(|a, b| weights[*a].total_cmp(&weights[*b]));
        let Some(place) = widest else { return false };
        let (low, high) = &cell.ends[place];
        let middle = (low + high) / whole(2);
        for half in [(low.clone(), middle.clone()), (middle.clone(), high.clone())] {
            let mut ends = cell.ends.clone();
            ends[place] = half;
            cells.push(Cell { ends, open: open.clone() });
        }
    }
    true
}

/// Whether a box has no point of a ball.
fn apart(ends: &[(Rational, Rational)], ball: &Ball) -> bool {
    let gap = |((low, high), center): (&(Rational, Rational), &Rational)| {
        if center < low {
            low - center
        } else if center > high {
            center - high
        } else {
            whole(0)
        }
    };
    let gaps = ends.iter().zip(&ball.center).map(gap);
    if ball.euclid {
        gaps.map(|gap| &gap * &gap).sum::<Rational>() > &ball.radius * &ball.radius
    } else {
        gaps.sum::<Rational>() > ball.radius
    }
}

/// The disjuncts that are still open on a cell, and for each coordinate how much it matters to them.
fn look<E: End>(problem: &Problem, cell: &Cell) -> (Vec<usize>, Vec<f64>) {
    let n = cell.ends.len();
    let wide = |(whole, own): (&(Rational, Rational), &(Rational, Rational))| {
        crate::number::near(&(&own.1 - &own.0)) / crate::number::near(&(&whole.1 - &whole.0)).max(1e-300)
    };
    let mut weights: Vec<f64> =
        problem.region.ends.iter().zip(&cell.ends).map(wide).map(|width| width * 1e-3).collect();
    let x: Vec<Form<E>> =
        cell.ends.iter().enumerate().map(|(place, (low, high))| Form::input(low, high, place, n)).collect();
    let Some(y) = outputs(&problem.net, &problem.about, x.clone()) else {
        weights.iter_mut().for_each(|weight| *weight *= 1e3);
        return (cell.open.clone(), weights);
    };
    let constraints: Vec<Line<E>> = problem.region.constraints.iter().map(|row| line(row, &x, &y).low).collect();
    let mut open = Vec::new();
    for disjunct in &cell.open {
        let rows = &problem.disjuncts[*disjunct];
        let forms: Vec<Form<E>> = rows.iter().map(|row| line(row, &x, &y)).collect();
        let mut lows: Vec<(Line<E>, bool)> =
            forms.iter().zip(rows).map(|(form, row)| (form.low.clone(), row.strict)).collect();
        lows.extend(constraints.iter().map(|low| (low.clone(), false)));
        // Ends of a value may say more than its lines do.
        let apart = |(form, row): (&Form<E>, &Row)| form.least > E::zero() || (row.strict && form.least >= E::zero());
        if !forms.iter().zip(rows).any(apart) && !refuted(problem, cell, &lows) {
            open.push(*disjunct);
            for c in forms.iter().flat_map(|form| [&form.low.c, &form.high.c]) {
                c.iter().zip(&mut weights).for_each(|(c, weight)| *weight += c.float().abs());
            }
        }
    }
    (open, weights)
}

fn outputs<E: End>(net: &Net, about: &[usize], x: Vec<Form<E>>) -> Option<Vec<Form<E>>> {
    let values = values(net, x)?;
    Some(about.iter().flat_map(|id| values[*id].values.clone()).collect())
}

/// The left side of a row less its bound.
fn line<E: End>(row: &Row, x: &[Form<E>], y: &[Form<E>]) -> Form<E> {
    let terms = row
        .terms
        .iter()
        .map(|((output, index), c)| Form::ratio(c).times(if *output { &y[*index] } else { &x[*index] }));
    terms.fold(Form::ratio(&-&row.bound), |sum, term| sum.plus(&term))
}

/// Whether rows cannot all be at most zero: `lows` are lines below them, each with whether its row is strict. A line alone, or with a
/// multiple of another, is above zero on the region.
fn refuted<E: End>(problem: &Problem, cell: &Cell, lows: &[(Line<E>, bool)]) -> bool {
    let above = |line: &Line<E>, strict: bool| {
        let good = |least: &E| *least > E::zero() || (strict && *least >= E::zero());
        good(&line.least())
            || problem.region.ball.as_ref().is_some_and(|ball| good(&E::of(&over_ball(line, cell, ball), false)))
    };
    if lows.iter().any(|(line, strict)| above(line, *strict)) {
        return true;
    }
    // What is nowhere above zero adds nothing to another.
    let lows: Vec<&(Line<E>, bool)> = lows.iter().filter(|(line, _)| line.most() > E::zero()).collect();
    lows.iter().enumerate().any(|(i, (first, strict))| {
        lows.iter().enumerate().filter(|(j, _)| *j != i).any(|(_, (second, _))| {
            let pairs = first.c.iter().zip(&second.c);
            let opposed =
                pairs.filter(|(a, b)| (**a > E::zero() && **b < E::zero()) || (**a < E::zero() && **b > E::zero()));
            let ratios: Vec<E> = opposed.map(|(a, b)| E::vanishing(a, b)).collect();
            // Of many, a few will do.
            let step = ratios.len().div_ceil(12).max(1);
            ratios.iter().step_by(step).any(|ratio| above(&first.plus(&second.times(ratio, false), false), *strict))
        })
    })
}

/// At most the least value of a line over the ball.
fn over_ball<E: End>(line: &Line<E>, cell: &Cell, ball: &Ball) -> Rational {
    let two = whole(2);
    let mut value = line.k.exact();
    let mut slopes = Vec::new();
    for ((c, (low, high)), center) in line.c.iter().zip(&cell.ends).zip(&ball.center) {
        // As `Form::input`: t = (x − middle)/radius.
        let middle = E::of(&((low + high) / &two), true).exact();
        let radius = E::of(&(high - &middle).max(&middle - low), true).exact();
        if radius.is_zero() {
            continue;
        }
        let slope = c.exact() / radius;
        value += &slope * (center - middle);
        slopes.push(slope.abs());
    }
    let norm = if ball.euclid {
        root_above(&slopes.iter().map(|slope| slope * slope).sum())
    } else {
        slopes.into_iter().max().unwrap_or_default()
    };
    value - norm * &ball.radius
}

/// A number whose square is at least this one.
fn root_above(square: &Rational) -> Rational {
    const BITS: i64 = 120;
    let scaled = (square * power(2, 2 * BITS)).ceil().to_integer();
    let root = scaled.sqrt();
    let exact = &root * &root == scaled;
    Rational::from_integer(if exact { root } else { root + 1 }) * power(2, -BITS)
}

/// Whether the point of a problem lies in the region and its outputs in the set.
pub(super) fn holds(problem: &Problem, point: &[Rational]) -> bool {
    let region = &problem.region;
    if point.len() != region.ends.len() || !region.has(point) {
        return false;
    }
    lost();
    let shown = |good: bool| good && !lost();
    shown(holds_in::<Rational>(problem, point)) || shown(holds_in::<f64>(problem, point))
}

fn holds_in<E: End>(problem: &Problem, point: &[Rational]) -> bool {
    let x: Vec<Form<E>> = point.iter().map(Form::ratio).collect();
    let Some(y) = outputs(&problem.net, &problem.about, x.clone()) else { return false };
    let inside = |row: &Row| {
        let most = line(row, &x, &y).most;
        most < E::zero() || (!row.strict && most <= E::zero())
    };
    problem.disjuncts.iter().any(|rows| rows.iter().all(inside))
}
