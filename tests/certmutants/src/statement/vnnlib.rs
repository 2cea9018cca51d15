//! VNN-LIB 1.0, as far as the accepted certificates use it: declarations, then assertions of comparisons of sums.

use super::{Claimed, Region, Row};
use crate::number::{Rational, decimal};
use num_traits::{One, Zero};
use std::collections::BTreeMap;

enum Expression<'a> {
    Word(&'a str),
    List(Vec<Expression<'a>>),
}

use Expression::{List, Word};

/// A sum of multiples of variables and a constant.
type Sum = (Vec<((bool, usize), Rational)>, Rational);

pub(super) fn read(text: &str) -> Option<Claimed> {
    let mut counts = [0, 0];
    let mut disjuncts: Vec<Vec<Row>> = vec![Vec::new()];
    for command in commands(text)? {
        let List(items) = &command else { return None };
        match items.as_slice() {
            [Word("declare-const"), Word(name), Word("Real")] => {
                let (output, index) = variable(name)?;
                let count = &mut counts[usize::from(output)];
                (*count == index).then_some(())?;
                *count += 1;
            }
            [Word("assert"), formula] => disjuncts = product(&disjuncts, &normal(formula, counts)?)?,
            _ => return None,
        }
    }
    let ends = (0..counts[0]).map(|index| hull(index, &disjuncts)).collect::<Option<_>>()?;
    Some((Region { ends, ball: None, constraints: Vec::new() }, counts[1], disjuncts))
}

fn commands(text: &str) -> Option<Vec<Expression<'_>>> {
    let mut open: Vec<Vec<Expression<'_>>> = vec![Vec::new()];
    for line in text.split('\n') {
        let mut rest = line.split(';').next()?;
        if !rest.chars().all(|letter| letter == '\t' || letter == '\r' || !letter.is_control()) {
            return None;
        }
        while let Some(letter) = rest.chars().next() {
            match letter {
                ' ' | '\t' | '\r' => rest = &rest[1..],
                '(' => {
                    open.push(Vec::new());
                    rest = &rest[1..];
                }
                ')' => {
                    let list = List(open.pop()?);
                    open.last_mut()?.push(list);
                    rest = &rest[1..];
                }
                _ => {
                    let end = rest.find([' ', '\t', '\r', '(', ')']).unwrap_or(rest.len());
                    open.last_mut()?.push(Word(&rest[..end]));
                    rest = &rest[end..];
                }
            }
        }
    }
    let whole = open.pop()?;
    open.is_empty().then_some(whole)
}

/// A variable, whether it is an output, and its place.
fn variable(name: &str) -> Option<(bool, usize)> {
    let (side, index) = name.split_once('_')?;
    let plain = index == "0" || (!index.starts_with('0') && index.bytes().all(|byte| byte.is_ascii_digit()));
    let index = plain.then(|| index.parse().ok())??;
    match side {
        "X" => Some((false, index)),
        "Y" => Some((true, index)),
        _ => None,
    }
}

/// More rows than any accepted property has.
const MOST: usize = 100_000;

fn product(first: &[Vec<Row>], second: &[Vec<Row>]) -> Option<Vec<Vec<Row>>> {
    (first.len() * second.len() <= MOST).then_some(())?;
    Some(first.iter().flat_map(|a| second.iter().map(move |b| [&a[..], b].concat())).collect())
}

/// The disjuncts of a formula.
fn normal(formula: &Expression<'_>, counts: [usize; 2]) -> Option<Vec<Vec<Row>>> {
    let List(items) = formula else { return None };
    let (Word(operator), arguments) = items.split_first()? else { return None };
    let all = || {
        arguments
            .iter()
            .map(|argument| normal(argument, counts))
            .collect::<Option<Vec<_>>>()
            .filter(|all| !all.is_empty())
    };
    match *operator {
        "or" => Some(all()?.concat()),
        "and" => all()?.iter().try_fold(vec![Vec::new()], |whole, next| product(&whole, next)),
        "<=" | ">=" | "<" | ">" | "=" => {
            let [left, right] = arguments else { return None };
            let (left, right) = (sum(left, counts)?, sum(right, counts)?);
            let row = |(left, a): &Sum, (right, b): &Sum| {
                let minus = right.iter().map(|(variable, c)| (*variable, -c));
                Row::new(left.iter().cloned().chain(minus), b - a, operator.len() == 1 && *operator != "=")
            };
            Some(match *operator {
                "<=" | "<" => vec![vec![row(&left, &right)]],
                ">=" | ">" => vec![vec![row(&right, &left)]],
                _ => vec![vec![row(&left, &right), row(&right, &left)]],
            })
        }
        _ => None,
    }
}

fn sum(expression: &Expression<'_>, counts: [usize; 2]) -> Option<Sum> {
    match expression {
        Word(word) => match variable(word) {
            Some((output, index)) => (index < counts[usize::from(output)])
                .then(|| (vec![((output, index), Rational::one())], Rational::zero())),
            None => Some((Vec::new(), decimal(word)?)),
        },
        List(items) => {
            let (Word(operator), arguments) = items.split_first()? else { return None };
            let mut all =
                arguments.iter().map(|argument| sum(argument, counts)).collect::<Option<Vec<Sum>>>()?.into_iter();
            let times = |(terms, constant): Sum, factor: &Rational| -> Sum {
                (terms.into_iter().map(|(variable, c)| (variable, c * factor)).collect(), constant * factor)
            };
            let plus = |(mut terms, a): Sum, (more, b): Sum| -> Sum {
                terms.extend(more);
                (terms, a + b)
            };
            let first = all.next()?;
            match *operator {
                "+" => Some(all.fold(first, plus)),
                "-" if arguments.len() == 1 => Some(times(first, &-Rational::one())),
                "-" => Some(all.fold(first, |whole, next| plus(whole, times(next, &-Rational::one())))),
                "*" => all.try_fold(first, |whole, next| match (whole.0.is_empty(), next.0.is_empty()) {
                    (true, _) => Some(times(next, &whole.1)),
                    (_, true) => Some(times(whole, &next.1)),
                    _ => None,
                }),
                _ => None,
            }
        }
    }
}

/// Over the disjuncts, the hull of the bounds that their rows about this input alone give it.
fn hull(index: usize, disjuncts: &[Vec<Row>]) -> Option<(Rational, Rational)> {
    let mut whole: Option<(Rational, Rational)> = None;
    for rows in disjuncts {
        let mut ends: BTreeMap<bool, Rational> = BTreeMap::new();
        for row in rows {
            let [((false, own), c)] = row.terms.as_slice() else { continue };
            if *own == index {
                let upper = *c > Rational::zero();
                let end = &row.bound / c;
                let tighter = ends.get(&upper).is_none_or(|old| if upper { end < *old } else { end > *old });
                if tighter {
                    ends.insert(upper, end);
                }
            }
        }
        let (low, high) = (ends.remove(&false)?, ends.remove(&true)?);
        whole = Some(match whole {
            Some((least, most)) => (least.min(low), most.max(high)),
            None => (low, high),
        });
    }
    whole
}
