//! Points with the outputs that another program gave there, and what these differ from the kernel's by.

use crate::backend::Failure;
use crate::bounds::Bounds;
use crate::number::{Format, Number};
use certkern_core::interval::Interval;
use certkern_core::num::Rational;
use certkern_graph::{Graph, Lowered};
use certkern_wire::fields::element;
use certkern_wire::json::{self, Json, Value};
use certkern_wire::{Limits, Reason, Rejection, number};
use num_traits::Signed;

const FORMAT: &str = "certkern.probe.v1";

/// A point and the outputs that a run in a format gave there: `{"format": "certkern.probe.v1", "arith": "float32", "x": [number, …], "y": [number,
/// …]}`. Every number is read as the nearest of the format, so that shortened decimals mean what they were printed from. Lists may be nested, as
/// tensors are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The format.
    pub format: Format,
    /// The input, flattened.
    pub x: Vec<Rational>,
    /// The outputs, flattened, one after the other.
    pub y: Vec<Rational>,
    /// Who gave the outputs, if it says.
    pub producer: Option<String>,
}

/// What one number of a run differs by.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The number; `None` if it is none.
    pub found: Option<Rational>,
    /// Around the real one.
    pub ball: Interval,
    /// How far it may lie from anything in the ball; infinite where there is no bound.
    pub bound: f64,
}

impl Difference {
    /// The numbers of a run beside balls and bounds.
    #[must_use]
    pub fn all(found: Vec<Option<Rational>>, (balls, bounds): (&[Interval], &[f64])) -> Vec<Self> {
        let pairs = found.into_iter().zip(balls.iter().zip(bounds));
        pairs.map(|(found, (ball, bound))| Self { found, ball: ball.clone(), bound: *bound }).collect()
    }

    /// The greatest distance of the number from anything in the ball.
    #[must_use]
    pub fn distance(&self) -> Option<Rational> {
        let found = self.found.as_ref()?;
        let [below, above] = [&self.ball.lower, &self.ball.upper].map(|end| (found - end.to_rational()).abs());
        Some(below.max(above))
    }

    /// Whether that is within the bound.
    #[must_use]
    pub fn is_within(&self) -> bool {
        let bound = certkern_core::num::Dyadic::from_f64_bits(self.bound.to_bits());
        bound.zip(self.distance()).is_some_and(|(bound, distance)| distance <= bound.to_rational())
    }

    /// The distance in binary64.
    #[must_use]
    pub fn about(&self) -> f64 {
        self.distance().and_then(|distance| f64::nearest(&distance)).unwrap_or(f64::INFINITY)
    }
}

impl Probe {
    /// Reads a probe.
    ///
    /// # Errors
    /// The faults of the document.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, Rejection> {
        let document = json::parse(bytes, limits)?;
        let mut fields = document.object("")?;
        let format = fields.required("format")?;
        if format.string("format")? != FORMAT {
            let found = format.string("format")?.to_owned();
            return Err(format.fault(Reason::BundleFormat { found, expected: FORMAT }, "format").into());
        }
        let arith = fields.required("arith")?;
        let name = arith.string("arith")?;
        let expected = "arithmetic `float32` or `float64`";
        let format = Format::named(name)
            .ok_or_else(|| arith.fault(Reason::BundleFormat { found: name.to_owned(), expected }, "arith"))?;
        let x = numbers(fields.required("x")?, "x", Some(format), limits)?;
        let y = numbers(fields.required("y")?, "y", Some(format), limits)?;
        let producer = match fields.optional("producer") {
            Some(producer) => Some(producer.string("producer")?.to_owned()),
            None => None,
        };
        let probe = Self { format, x, y, producer };
        fields.finish().map_err(Rejection::from)?;
        Ok(probe)
    }

    /// The outputs beside those of the kernel, in balls of `bits` bits.
    ///
    /// # Errors
    /// [`Failure::Width`] if `x` or `y` has another width than input or outputs; as [`Bounds::new`].
    pub fn compare(&self, graph: &Graph, lowered: &Lowered, bits: u64) -> Result<Vec<Difference>, Failure> {
        let program = &lowered.program;
        if (self.x.len(), self.y.len()) != (program.width(program.input()), program.output_width()) {
            return Err(Failure::Width);
        }
        let bounds = Bounds::new(graph, lowered, &self.x, self.format, bits)?;
        let mut found = self.y.iter().cloned().map(Some);
        let of = |id: &usize| {
            let found = found.by_ref().take(program.width(*id)).collect();
            Difference::all(found, bounds.of(*id))
        };
        Ok(program.outputs().iter().flat_map(of).collect())
    }
}

/// The numbers of a list of numbers and lists, in order: as they are spelled, or the nearest ones of a format.
fn numbers(list: &Json<'_>, path: &str, format: Option<Format>, limits: &Limits) -> Result<Vec<Rational>, Rejection> {
    list.array(path)?;
    let mut found = Vec::new();
    let mut open = vec![(list, path.to_owned())];
    while let Some((json, path)) = open.pop() {
        if let Value::Array(items) = &json.value {
            open.extend(items.iter().enumerate().rev().map(|(i, item)| (item, element(&path, i))));
            continue;
        }
        let number = json.rational(&path, limits)?;
        found.push(match format {
            None => number,
            Some(format) => {
                let beyond = || json.fault(Reason::JsonNumber(number::about(&number)), &path);
                format.nearest(&number).ok_or_else(beyond)?
            }
        });
    }
    Ok(found)
}

/// A point: a list of numbers, or an object with one at `x`, such as a probe, a counterexample or a certificate of kind `witness`.
///
/// # Errors
/// The faults of the document.
pub fn point(bytes: &[u8], format: Option<Format>, limits: &Limits) -> Result<Vec<Rational>, Rejection> {
    let document = json::parse(bytes, limits)?;
    match &document.value {
        Value::Object(_) => numbers(document.object("")?.required("x")?, "x", format, limits),
        _ => numbers(&document, "", format, limits),
    }
}
