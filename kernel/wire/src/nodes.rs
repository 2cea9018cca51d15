//! Bounds of nodes as JSON (`certkern.nodes.v1`): numbers, affine forms of the input, or both, for the nodes that are listed.

use crate::fields::{Fields, element};
use crate::json::Json;
use crate::limits::{Limits, within};
use crate::property::weight;
use crate::reason::{Fault, Reason, Rejection};
use crate::region::{linear, numbers};
use certkern_core::num::Rational;
use certkern_core::property::{Disjunct, Row, Variable, disjunct};
use num_traits::One;

/// The format.
pub const FORMAT: &str = "certkern.nodes.v1";

/// Bounds of nodes, and what violates them.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// For each node its id and the number of its coordinates, by ascending id; at least one.
    pub listed: Vec<(usize, usize)>,
    /// Where a bound fails: for each node, each of its forms (`ibp`, then `crown`) and each coordinate one disjunct below the lower bound and one above the upper.
    /// The output variables are the coordinates of the nodes, one node after the other.
    pub disjuncts: Vec<Disjunct>,
}

/// Reads `{"format": "certkern.nodes.v1", "nodes": [{"id": n, "ibp": {"lo": […], "hi": […]}, "crown": {"loA": [[…], …], "loC": […], "hiA": …, "hiC": …}}, …]}`, of
/// each node `ibp` or `crown` or both, for networks of so many inputs.
///
/// # Errors
/// Any `json.*`, `bundle.format`, `nodes.listing`, or `limit.variables`, `limit.disjuncts`, `limit.rows`.
pub fn read(document: &Json, inputs: usize, limits: &Limits) -> Result<Nodes, Rejection> {
    const FORMS: [(&str, [Side; 2]); 2] =
        [("ibp", [(None, "lo"), (None, "hi")]), ("crown", [(Some("loA"), "loC"), (Some("hiA"), "hiC")])];
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", FORMAT)?;
    let nodes = fields.required("nodes")?;
    fields.finish()?;
    let mut read = Nodes::default();
    let mut reader = Reader { inputs, outputs: 0, used: 0, limits };
    for (place, item) in nodes.array("nodes")?.iter().enumerate() {
        let path = element("nodes", place);
        let refused = |what: &str| item.fault(Reason::NodesListing(what.to_owned()), &path);
        let mut fields = item.object(&path)?;
        let id = fields.required("id")?.index(&fields.path("id"))?;
        if read.listed.last().is_some_and(|(last, _)| *last >= id) {
            return Err(refused("ids are not in ascending order").into());
        }
        let mut width = None;
        for (form, [below, above]) in FORMS {
            let Some(bounds) = fields.optional(form) else { continue };
            let mut bounds = bounds.object(&fields.path(form))?;
            let (low, high) = (reader.side(&mut bounds, below, true)?, reader.side(&mut bounds, above, false)?);
            bounds.finish()?;
            let own = *width.get_or_insert(low.len());
            if [low.len(), high.len()] != [own; 2] {
                return Err(refused("the bounds of a node differ in number").into());
            }
            read.disjuncts
                .extend(low.into_iter().zip(high).flat_map(|(low, high)| [disjunct([low]), disjunct([high])]));
        }
        fields.finish()?;
        let width = width.ok_or_else(|| refused("a node without bounds"))?;
        reader.outputs = reader.outputs.saturating_add(width);
        read.listed.push((id, width));
    }
    if read.disjuncts.is_empty() {
        return Err(nodes.fault(Reason::NodesListing("nothing is bounded".to_owned()), "nodes").into());
    }
    within("disjuncts", read.disjuncts.len(), limits.disjuncts).map_err(|reason| nodes.fault(reason, "nodes"))?;
    Ok(read)
}

/// The names of a matrix, if there is one, and of constants.
type Side = (Option<&'static str>, &'static str);

struct Reader<'l> {
    inputs: usize,
    /// The coordinates of the nodes before.
    outputs: usize,
    /// Of the budget `rows`.
    used: usize,
    limits: &'l Limits,
}

impl Reader<'_> {
    /// Where values lie beyond `A·x + c`, for each coordinate: `y − A·x < c` below it, `A·x − y < −c` above.
    fn side(&mut self, fields: &mut Fields<'_>, (matrix, key): Side, below: bool) -> Result<Vec<Row>, Fault> {
        let (json, path) = (fields.required(key)?, fields.path(key));
        let constants = numbers(json, &path, self.limits)?;
        let matrix = matrix.map(|key| Ok((fields.required(key)?.array(&fields.path(key))?, fields.path(key))));
        let matrix = matrix.transpose()?;
        if matrix.as_ref().is_some_and(|(rows, _)| rows.len() != constants.len()) {
            return Err(json.fault(Reason::NodesListing("a matrix without as many rows".to_owned()), &path));
        }
        let sign = if below { Rational::one() } else { -Rational::one() };
        let mut rows = Vec::with_capacity(constants.len());
        for (place, constant) in constants.into_iter().enumerate() {
            let mut terms = match matrix.as_ref().and_then(|(rows, path)| Some((rows.get(place)?, path))) {
                Some((row, path)) => linear(row, &element(path, place), self.inputs, self.limits)?,
                None => Vec::new(),
            };
            terms.iter_mut().for_each(|(_, a)| *a = -(&*a * &sign));
            terms.push((Variable::Y(self.outputs.saturating_add(place)), sign.clone()));
            let row = Row { terms, bound: constant * &sign, strict: true };
            self.used = self.used.saturating_add(weight(&row));
            within("rows", self.used, self.limits.rows).map_err(|reason| json.fault(reason, &path))?;
            rows.push(row);
        }
        Ok(rows)
    }
}
