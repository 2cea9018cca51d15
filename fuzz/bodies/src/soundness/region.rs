//! Regions: boxes, balls, and what linear constraints leave of them.

use super::statement::list;
use crate::source::Choices;
use certkern_core::num::Rational;
use num_traits::Zero;

/// A region around a point.
pub(super) struct Region {
    pub(super) lower: Vec<Rational>,
    pub(super) upper: Vec<Rational>,
    ball: Option<Ball>,
    /// `row · x ≤ rhs` for each.
    constraints: Vec<(Vec<Rational>, Rational)>,
}

struct Ball {
    norm: &'static str,
    center: Vec<Rational>,
    radius: Rational,
}

impl Region {
    /// A box.
    pub(super) fn boxed(u: &mut Choices<'_>, x: &[Rational]) -> Self {
        let ends = x.iter().map(|x| (x - u.room(), x + u.room()));
        let (lower, upper) = ends.unzip();
        Self { lower, upper, ball: None, constraints: vec![] }
    }

    /// A box or a ball.
    pub(super) fn of_any_kind(u: &mut Choices<'_>, x: &[Rational]) -> Self {
        if u.below(2) == 0 {
            return Self::boxed(u, x);
        }
        let (norm, radius) = (u.pick(&["l1", "l2"]), u.room());
        let (lower, upper) = x.iter().map(|x| (x - &radius, x + &radius)).unzip();
        Self { lower, upper, ball: Some(Ball { norm, center: x.to_vec(), radius }), constraints: vec![] }
    }

    /// Points of the box or ball on its border, and now and then one between.
    pub(super) fn points(&self, u: &mut Choices<'_>) -> Vec<Vec<Rational>> {
        let Some(Ball { norm, center, radius }) = &self.ball else { return self.points_of_box(u) };
        let along = |place: usize, part: Rational| {
            let mut point = center.clone();
            point[place] += radius * part;
            point
        };
        let sign = Rational::from_integer(u.pick(&[1, -1]).into());
        let mut points = vec![along(u.below(center.len()), sign.clone())];
        match center.len() {
            // (3/5)² + (4/5)² = 1, and of magnitudes the sum of 1/5 and 4/5 is.
            2.. => {
                let mut point = along(0, Rational::new(4.into(), 5.into()));
                point[1] += radius * sign * Rational::new(if *norm == "l2" { 3 } else { 1 }.into(), 5.into());
                points.push(point);
            }
            _ => points.push(along(0, Rational::new(u.between(-8, 8).into(), 8.into()))),
        }
        points
    }

    fn points_of_box(&self, u: &mut Choices<'_>) -> Vec<Vec<Rational>> {
        let (lower, upper) = (&self.lower, &self.upper);
        let width = lower.len();
        let mut points: Vec<Vec<Rational>> =
            vec![(0..width).map(|i| if u.below(2) == 0 { lower[i].clone() } else { upper[i].clone() }).collect()];
        if u.below(2) == 0 {
            let part = Rational::new(u.between(0, 8).into(), 8.into());
            points.push((0..width).map(|i| &lower[i] + (&upper[i] - &lower[i]) * &part).collect());
        }
        points
    }

    /// Adds constraints that leave these points, most often with one of them on the border.
    pub(super) fn constrain<'p>(&mut self, u: &mut Choices<'_>, points: impl Iterator<Item = &'p [Rational]> + Clone) {
        for _ in 0..u.below(3) {
            let row: Vec<Rational> = self.lower.iter().map(|_| u.ratio()).collect();
            let product = |x: &[Rational]| x.iter().zip(&row).fold(Rational::zero(), |sum, (x, a)| sum + x * a);
            let Some(most) = points.clone().map(product).max() else { return };
            let room = if u.below(2) == 0 { Rational::zero() } else { u.room() };
            self.constraints.push((row, most + room));
        }
    }

    pub(super) fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// `region.json`.
    pub(super) fn document(&self) -> String {
        let region = match &self.ball {
            None => format!(r#""lo":{},"hi":{}"#, list(self.lower.iter()), list(self.upper.iter())),
            Some(Ball { norm, center, radius }) => {
                format!(r#""ball":"{norm}","center":{},"radius":"{radius}""#, list(center.iter()))
            }
        };
        let constraint =
            |(row, rhs): &(Vec<Rational>, Rational)| format!(r#"{{"row":{},"rhs":"{rhs}"}}"#, list(row.iter()));
        let constraints = self.constraints.iter().map(constraint).collect::<Vec<_>>().join(",");
        match constraints.is_empty() {
            true => format!("{{{region}}}"),
            false => format!(r#"{{{region},"constraints":[{constraints}]}}"#),
        }
    }
}
