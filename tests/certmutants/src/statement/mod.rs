//! What the documents of a certificate state, read by code that shares nothing with the kernel: from `schemas/SPEC.md` alone, and only what
//! can be read in one way. What is not read here is `None`.

mod digest;
mod graph;
mod vnnlib;

pub(crate) use graph::same_meaning;

use crate::bundle::{Bundle, MANIFEST};
use crate::json::Json;
use crate::number::{self, Rational, exact, exacts};
use certkern_fuzz::net::Net;
use num_traits::{Signed, Zero};

/// A row `Σ c·x + Σ c·y ≤ bound`, or `<`. Terms are sorted, those of x (`false`) before those of y; none is zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) terms: Vec<((bool, usize), Rational)>,
    pub(crate) bound: Rational,
    pub(crate) strict: bool,
}

/// A ball in the 1-norm or, if `euclid`, the 2-norm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ball {
    pub(crate) euclid: bool,
    pub(crate) center: Vec<Rational>,
    pub(crate) radius: Rational,
}

/// A part of a box.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Region {
    pub(crate) ends: Vec<(Rational, Rational)>,
    pub(crate) ball: Option<Ball>,
    pub(crate) constraints: Vec<Row>,
}

/// A claim about a network on a region: the values of the nodes `about`, one after the other, and a set in disjuncts.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) net: Net,
    pub(crate) about: Vec<usize>,
    pub(crate) region: Region,
    pub(crate) outputs: usize,
    pub(crate) disjuncts: Vec<Vec<Row>>,
    /// The point that is claimed to lie in the set. Where there is none, no point of the region does.
    pub(crate) point: Option<Vec<Rational>>,
}

/// An operation of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) arguments: Vec<usize>,
    pub(crate) numbers: Vec<Rational>,
}

/// Expressions, and balls in which their values lie.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Enclosure {
    pub(crate) nodes: Vec<Operation>,
    pub(crate) outputs: Vec<usize>,
    /// Midpoints and radii.
    pub(crate) balls: Vec<(Rational, Rational)>,
}

/// What is claimed.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Shaped(Net),
    Monotone(Net),
    Problem(Box<Problem>),
    Enclosure(Enclosure),
}

/// A statement, and the digest that the specification gives its claim.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) body: Body,
    pub(crate) claim: String,
}

impl Statement {
    pub(crate) fn read(bundle: &Bundle) -> Option<Self> {
        match bundle.document() {
            Some(document) => document_of(&Json::parse(document)?),
            None => folder(bundle),
        }
    }
}

fn document_of(document: &Json) -> Option<Statement> {
    strict(document)?;
    match document.get("format")?.text()? {
        "certkern.enclosure.v1" => {
            let enclosure = enclosure(document)?;
            let claim = digest::of_enclosure(&enclosure);
            Some(Statement { body: Body::Enclosure(enclosure), claim })
        }
        "certkern.monotone.v1" => {
            let net = graph::read(only(document, &["format", "graph"])?.get("graph")?, &[])?;
            let claim = digest::of_graph("monotone", "monotone", &net);
            Some(Statement { body: Body::Monotone(net), claim })
        }
        _ => {
            let net = graph::read(document, &[])?;
            let claim = digest::of_graph("graph", "well-shaped", &net);
            Some(Statement { body: Body::Shaped(net), claim })
        }
    }
}

/// `None` where a name stands twice in an object.
fn strict(document: &Json) -> Option<()> {
    document.places(|value| matches!(value, Json::Object(_)) && value.members().is_none()).is_empty().then_some(())
}

/// The object, if it has no members but these.
fn only<'a>(json: &'a Json, names: &[&str]) -> Option<&'a Json> {
    json.members()?.iter().all(|(key, _)| names.contains(&key.as_str())).then_some(json)
}

fn json_file(bundle: &Bundle, name: &str) -> Option<Json> {
    let json = Json::parse(bundle.files.get(name)?)?;
    strict(&json)?;
    Some(json)
}

fn folder(bundle: &Bundle) -> Option<Statement> {
    let manifest = json_file(bundle, MANIFEST)?;
    let files = manifest.get("files")?;
    let name = |role: &str| files.get(role)?.text();
    let kind = manifest.get("kind")?.text()?;
    let payload = crate::tensors::read(bundle.files.get(name("payload")?)?)?;
    let net = graph::read(&json_file(bundle, name("graph")?)?, &payload)?;
    let (kind, proposition): (&'static str, &str) = match kind {
        "leaves" => ("leaves", "unsat"),
        "witness" => ("witness", "sat"),
        "bound" => ("bound", "bound"),
        "nodes" => ("nodes", "nodes"),
        _ => return None,
    };
    let mut about = net.outputs.clone();
    let (region, outputs, disjuncts) = match kind {
        "leaves" | "witness" => {
            let file = name("property")?;
            let bytes = bundle.files.get(file)?;
            if file.ends_with(".json") {
                property(&json_file(bundle, file)?)?
            } else {
                vnnlib::read(std::str::from_utf8(bytes).ok()?)?
            }
        }
        "bound" => {
            let bounds = json_file(bundle, name("bound")?)?;
            only(&bounds, &["format", "lower", "upper"])?
                .get("format")?
                .text()
                .filter(|format| *format == "torchlean.bound.v1")?;
            let ends = |side: &Json| if side.list().is_some() { exacts(side) } else { Some(vec![exact(side)?]) };
            let (lower, upper) = (ends(bounds.get("lower")?)?, ends(bounds.get("upper")?)?);
            (region(&json_file(bundle, name("region")?)?)?, lower.len(), outside(&lower, &upper)?)
        }
        _ => {
            let region = region(&json_file(bundle, name("region")?)?)?;
            let (listed, outputs, disjuncts) = nodes(&json_file(bundle, name("nodes")?)?, region.ends.len())?;
            let widths = listed
                .iter()
                .map(|(id, width)| (net.nodes.get(*id)?.shape.iter().product::<usize>() == *width).then_some(*id));
            about = widths.collect::<Option<_>>()?;
            (region, outputs, disjuncts)
        }
    };
    let width = |id: &usize| net.nodes.get(*id).map(|node| node.shape.iter().product::<usize>());
    let fits = width(&net.input)? == region.ends.len() && about.iter().map(width).sum::<Option<usize>>()? == outputs;
    let ordered = region.ends.iter().all(|(low, high)| low <= high);
    if !fits || !ordered || disjuncts.is_empty() {
        return None;
    }
    let point = match kind {
        "witness" => Some(exacts(json_file(bundle, name("certificate")?)?.get("x")?)?),
        _ => None,
    };
    let problem = Problem { net, about, region, outputs, disjuncts, point };
    let claim = digest::of_problem(kind, proposition, &problem);
    Some(Statement { body: Body::Problem(Box::new(problem)), claim })
}

type Claimed = (Region, usize, Vec<Vec<Row>>);

fn property(document: &Json) -> Option<Claimed> {
    only(document, &["format", "outputs", "lower", "upper", "unsafe"])?;
    document.get("format")?.text().filter(|format| *format == "certkern.property.v1")?;
    let (lower, upper) = (exacts(document.get("lower")?)?, exacts(document.get("upper")?)?);
    let outputs = document.get("outputs")?.natural()?;
    let row = |json: &Json| {
        only(json, &["x", "y", "bound", "strict"])?;
        let mut terms = Vec::new();
        for (side, name, most) in [(false, "x", lower.len()), (true, "y", outputs)] {
            for (key, value) in json.get(name).map_or(Some(&[][..]), Json::members)? {
                let index = number::integer(key).filter(|_| key == "0" || !key.starts_with(['0', '-']))?;
                let index: usize = index.try_into().ok().filter(|index| *index < most)?;
                terms.push(((side, index), exact(value)?));
            }
        }
        let Json::Bool(strict) = json.get("strict")? else { return None };
        Some(Row::new(terms, exact(json.get("bound")?)?, *strict))
    };
    let disjuncts = document.get("unsafe")?.list()?.iter().map(|rows| rows.list()?.iter().map(row).collect());
    let disjuncts = disjuncts.collect::<Option<_>>()?;
    (lower.len() == upper.len()).then_some(())?;
    let ends = lower.into_iter().zip(upper).collect();
    Some((Region { ends, ball: None, constraints: Vec::new() }, outputs, disjuncts))
}

impl Row {
    /// Sorted, terms of one variable added up, none that is zero.
    pub(crate) fn new(
        terms: impl IntoIterator<Item = ((bool, usize), Rational)>,
        bound: Rational,
        strict: bool,
    ) -> Self {
        let mut sums = std::collections::BTreeMap::new();
        for (variable, coefficient) in terms {
            *sums.entry(variable).or_insert_with(Rational::zero) += coefficient;
        }
        Self { terms: sums.into_iter().filter(|(_, coefficient)| !coefficient.is_zero()).collect(), bound, strict }
    }

    pub(crate) fn speaks_of_output(&self) -> bool {
        self.terms.iter().any(|((output, _), _)| *output)
    }
}

fn region(document: &Json) -> Option<Region> {
    only(document, &["dim", "lo", "hi", "center", "eps", "ball", "radius", "constraints"])?;
    let list = |name: &str| document.get(name).and_then(exacts);
    let has = |name: &str| document.get(name).is_some();
    let mut ball = None;
    let ends: Vec<(Rational, Rational)> = if has("lo") {
        (!has("center") && !has("eps") && !has("ball") && !has("radius")).then_some(())?;
        let (low, high) = (list("lo")?, list("hi")?);
        (low.len() == high.len()).then(|| low.into_iter().zip(high).collect())?
    } else {
        let center = list("center")?;
        let radius = if has("ball") {
            (!has("eps")).then(|| exact(document.get("radius")?))??
        } else {
            (!has("radius")).then(|| exact(document.get("eps")?))??
        };
        if let Some(norm) = document.get("ball") {
            let euclid = match norm.text()? {
                "l1" => false,
                "l2" => true,
                _ => return None,
            };
            ball = Some(Ball { euclid, center: center.clone(), radius: radius.clone() });
        }
        (!radius.is_negative()).then_some(())?;
        center.into_iter().map(|middle| (&middle - &radius, middle + &radius)).collect()
    };
    if let Some(dim) = document.get("dim") {
        (dim.natural()? == ends.len()).then_some(())?;
    }
    let constraint = |json: &Json| {
        only(json, &["row", "rhs"])?;
        let row = exacts(json.get("row")?).filter(|row| row.len() == ends.len())?;
        let terms = row.into_iter().enumerate().map(|(index, coefficient)| ((false, index), coefficient));
        Some(Row::new(terms, exact(json.get("rhs")?)?, false))
    };
    let constraints = document.get("constraints").map_or(Some(&[][..]), Json::list)?.iter().map(constraint);
    let constraints = constraints.collect::<Option<_>>()?;
    Some(Region { ends, ball, constraints })
}

/// Below the lower bound or above the upper one, for each output.
fn outside(lower: &[Rational], upper: &[Rational]) -> Option<Vec<Vec<Row>>> {
    (lower.len() == upper.len()).then_some(())?;
    let sides = |(place, (low, high)): (usize, (&Rational, &Rational))| {
        let one = Rational::from_integer(1.into());
        [Row::new([((true, place), one.clone())], low.clone(), true), Row::new([((true, place), -one)], -high, true)]
    };
    Some(lower.iter().zip(upper).enumerate().flat_map(sides).map(|row| vec![row]).collect())
}

type Listed = (Vec<(usize, usize)>, usize, Vec<Vec<Row>>);

/// The listed nodes with their widths, the width of all, and what would contradict a bound.
fn nodes(document: &Json, inputs: usize) -> Option<Listed> {
    only(document, &["format", "nodes"])?.get("format")?.text().filter(|format| *format == "certkern.nodes.v1")?;
    let (mut listed, mut offset, mut disjuncts) = (Vec::new(), 0, Vec::new());
    let one = || Rational::from_integer(1.into());
    for node in document.get("nodes")?.list()? {
        only(node, &["id", "ibp", "crown"])?;
        let id = node.get("id")?.natural()?;
        (listed.last().is_none_or(|(last, _)| *last < id)).then_some(())?;
        let mut width = None;
        let mut add = |low: &[Rational], high: &[Rational], matrices: Option<[Vec<Vec<Rational>>; 2]>| {
            (low.len() == high.len() && width.is_none_or(|width| width == low.len())).then_some(())?;
            width = Some(low.len());
            for place in 0..low.len() {
                for (side, (sign, bound)) in [(one(), &low[place]), (-one(), &high[place])].into_iter().enumerate() {
                    let mut terms = vec![((true, offset + place), sign.clone())];
                    if let Some(matrices) = &matrices {
                        let row = matrices[side].get(place).filter(|row| row.len() == inputs)?;
                        terms.extend(row.iter().enumerate().map(|(index, c)| ((false, index), -&sign * c)));
                    }
                    disjuncts.push(vec![Row::new(terms, sign * bound, true)]);
                }
            }
            Some(())
        };
        if let Some(ibp) = node.get("ibp") {
            only(ibp, &["lo", "hi"])?;
            add(&exacts(ibp.get("lo")?)?, &exacts(ibp.get("hi")?)?, None)?;
        }
        if let Some(crown) = node.get("crown") {
            only(crown, &["loA", "loC", "hiA", "hiC"])?;
            let matrix = |name: &str| crown.get(name)?.list()?.iter().map(exacts).collect::<Option<Vec<_>>>();
            let matrices = [matrix("loA")?, matrix("hiA")?];
            let (low, high) = (exacts(crown.get("loC")?)?, exacts(crown.get("hiC")?)?);
            matrices.iter().all(|matrix| matrix.len() == low.len()).then_some(())?;
            add(&low, &high, Some(matrices))?;
        }
        listed.push((id, width?));
        offset += width?;
    }
    Some((listed, offset, disjuncts))
}

fn enclosure(document: &Json) -> Option<Enclosure> {
    only(document, &["format", "precision", "query", "answer"])?;
    let (query, answer) = (document.get("query")?, document.get("answer")?);
    only(query, &["format", "precision", "nodes", "outputs"])?
        .get("format")?
        .text()
        .filter(|f| *f == "certkern.enclosure-query.v1")?;
    only(answer, &["format", "query", "status", "precision", "values"])?
        .get("format")?
        .text()
        .filter(|f| *f == "certkern.enclosure-answer.v1")?;
    answer.get("status")?.text().filter(|status| *status == "ok")?;
    let operation = |(place, json): (usize, &Json)| {
        only(json, &["op", "args", "numbers"])?;
        let arguments = json.get("args").map_or(Some(Vec::new()), Json::naturals)?;
        arguments.iter().all(|argument| *argument < place).then_some(())?;
        let numbers = json.get("numbers").map_or(Some(Vec::new()), exacts)?;
        Some(Operation { name: json.get("op")?.text()?.to_owned(), arguments, numbers })
    };
    let nodes: Vec<Operation> = query.get("nodes")?.list()?.iter().enumerate().map(operation).collect::<Option<_>>()?;
    let outputs = query.get("outputs")?.naturals()?;
    outputs.iter().all(|output| *output < nodes.len()).then_some(())?;
    let balls = answer.get("values")?.list()?.iter().map(ball).collect::<Option<Vec<_>>>()?;
    (balls.len() == outputs.len() && balls.iter().all(|(_, radius)| !radius.is_negative())).then_some(())?;
    Some(Enclosure { nodes, outputs, balls })
}

/// Midpoint and radius in one of the three spellings.
fn ball(json: &Json) -> Option<(Rational, Rational)> {
    let integer = |json: &Json| exact(json).filter(Rational::is_integer).map(|value| value.to_integer());
    if let Some(items) = json.list() {
        let &[m, e, r, f] = &items else { return None };
        let scale = |exponent: &Json| {
            Some(number::power(2, integer(exponent)?.try_into().ok().filter(|e: &i64| e.abs() <= 16384)?))
        };
        return Some((
            Rational::from_integer(integer(m)?) * scale(e)?,
            Rational::from_integer(integer(r)?) * scale(f)?,
        ));
    }
    only(json, &["mid", "rad", "exp"])?;
    let (mid, rad) = (json.get("mid")?, json.get("rad")?);
    match json.get("exp") {
        Some(exponent) => {
            let scale = number::power(10, integer(exponent)?.try_into().ok().filter(|e: &i64| e.abs() <= 5000)?);
            Some((Rational::from_integer(integer(mid)?) * &scale, Rational::from_integer(integer(rad)?) * scale))
        }
        None => Some((exact(mid)?, exact(rad)?)),
    }
}
