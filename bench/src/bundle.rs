//! A bundle as the measurements need it: the problem, the trees, and the hints of a few leaves at a time.

use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{NodeId, Primitive};
use certkern_core::property::{Row, Variable};
use certkern_core::rules::{Multipliers, NodeSlopes};
use certkern_core::tensor::{Tensor, Values};
use certkern_graph::Graph;
use certkern_seal::Documents;
use certkern_wire::{Limits, json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A result whose error says what went wrong.
pub(crate) type Said<T> = Result<T, String>;

/// An opened bundle of kind `leaves`.
pub(crate) struct Bundle {
    pub(crate) documents: Documents,
    /// Those of the certificate.
    pub(crate) thresholds: Vec<Rational>,
    /// For each disjunct its tree.
    pub(crate) trees: Vec<usize>,
    pub(crate) offset: Vec<usize>,
    pub(crate) kind: Vec<u8>,
    pub(crate) node: Vec<usize>,
    pub(crate) coordinate: Vec<usize>,
    pub(crate) threshold: Vec<usize>,
    /// For each tree node 0, or one more than the bound set that is applied there.
    pub(crate) set: Vec<usize>,
    pub(crate) sets: Vec<Vec<Start>>,
    /// Bytes of the hints.
    pub(crate) bytes: u64,
    hints: Option<Hints>,
    splits: Vec<usize>,
    rows: Vec<usize>,
}

/// Slopes for passes that start at one node.
pub(crate) struct Start {
    pub(crate) node: NodeId,
    pub(crate) rows: Vec<usize>,
    /// Function node, its coordinates, slopes from below and from above.
    pub(crate) slopes: Vec<(NodeId, Vec<usize>, Tensor, Tensor)>,
}

/// The tensors of a certificate on disk.
struct Hints {
    file: File,
    /// Type, shape and first byte.
    tensors: BTreeMap<String, (String, Vec<usize>, u64)>,
}

/// Slopes of one function node for a range of entries.
pub(crate) struct Columns {
    node: NodeId,
    columns: Vec<usize>,
    values: Tensor,
}

/// The hints of a range of entries.
pub(crate) struct Block {
    first: usize,
    slopes: Vec<Columns>,
    pub(crate) multipliers: Vec<Multipliers>,
}

impl Block {
    /// The slopes of an entry.
    pub(crate) fn slopes(&self, entry: usize) -> Vec<NodeSlopes<'_>> {
        let row = entry - self.first;
        let slopes = self.slopes.iter();
        slopes.map(|c| NodeSlopes { node: c.node, columns: &c.columns, values: &c.values, upper: None, row }).collect()
    }
}

impl Hints {
    fn open(path: &Path) -> Said<Self> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut length = [0; 8];
        read(&file, &mut length, 0)?;
        let length = u64::from_le_bytes(length);
        let mut header = vec![0; length as usize];
        read(&file, &mut header, 8)?;
        let header: BTreeMap<String, Value> = serde_json::from_slice(&header).map_err(|error| error.to_string())?;
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let entry = |(name, entry): (String, Value)| {
            let shape = entry["shape"].as_array().into_iter().flatten().map(|d| number(d) as usize).collect();
            let dtype = entry["dtype"].as_str().unwrap_or_default().to_owned();
            (name, (dtype, shape, 8 + length + number(&entry["data_offsets"][0])))
        };
        Ok(Self { file, tensors: header.into_iter().filter(|(name, _)| name != "__metadata__").map(entry).collect() })
    }

    fn names(&self) -> impl Iterator<Item = Vec<&str>> {
        self.tensors.keys().map(|name| name.split('.').collect())
    }

    /// The rows `rows` of a tensor (its elements, if it has one axis), all of them without a range.
    fn take(&self, name: &str, rows: Option<Range<usize>>) -> Said<Tensor> {
        let (dtype, shape, start) = self.tensors.get(name).ok_or_else(|| format!("there is no tensor {name}"))?;
        let width: usize = shape.iter().skip(1).product();
        let rows = rows.unwrap_or(0..shape.first().copied().unwrap_or(1));
        let size = match dtype.as_str() {
            "F64" => 8,
            "U8" => 1,
            _ => 4,
        };
        let mut bytes = vec![0; rows.len() * width * size];
        read(&self.file, &mut bytes, start + (rows.start * width * size) as u64)?;
        let shape = [&[rows.len()], shape.get(1..).unwrap_or_default()].concat();
        // Natural numbers come as bits too, and are taken out by `numbers`.
        let values = match size {
            8 => Values::Binary64(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()),
            1 => Values::Binary32(bytes.iter().map(|byte| u32::from(*byte)).collect()),
            _ => Values::Binary32(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()),
        };
        Tensor::new(shape, values).map_err(|error| format!("{name}: {error:?}"))
    }

    fn numbers(&self, name: &str, rows: Option<Range<usize>>) -> Said<Vec<usize>> {
        match self.take(name, rows)?.values() {
            Values::Binary32(bits) => Ok(bits.iter().map(|bits| *bits as usize).collect()),
            _ => Err(format!("{name} holds no natural numbers")),
        }
    }
}

fn read(file: &File, into: &mut [u8], at: u64) -> Said<()> {
    file.read_exact_at(into, at).map_err(|error| error.to_string())
}

impl Bundle {
    /// Opens a bundle that the checker would accept; of another one it says something or other.
    pub(crate) fn open(folder: &Path) -> Said<Self> {
        let bytes = |name: &str| fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"));
        let limits = Limits::default();
        let refused = |rejection: certkern_wire::Rejection| format!("{:?}", rejection.first());
        let manifest: Value = serde_json::from_slice(&bytes("bundle.json")?).map_err(|error| error.to_string())?;
        let name = |role: &str| manifest["files"][role].as_str().unwrap_or_default().to_owned();
        let payload = bytes(&name("payload"))?;
        let graph = Graph::read(&bytes(&name("graph"))?, Some(&payload), &limits).map_err(refused)?;
        let property = name("property");
        let property = certkern_claims::read_property(&property, &bytes(&property)?, &limits).map_err(refused)?;
        let documents = Documents::new(graph, property).map_err(refused)?;
        let certificate = bytes(&name("certificate"))?;
        let exact = exact_thresholds(&certificate, &limits).map_err(refused)?;
        let certificate: Value = serde_json::from_slice(&certificate).map_err(|error| error.to_string())?;
        let trees = certificate["trees"].as_array().into_iter().flatten();
        let trees = trees.map(|tree| tree.as_u64().unwrap_or_default() as usize).collect();
        let kinds = certificate["bounds"].as_array().map_or(1, Vec::len);
        let hints = name("hints");
        let path = folder.join(&hints);
        let hints = if hints.is_empty() { None } else { Some(Hints::open(&path)?) };
        let mut bundle = Self {
            documents,
            thresholds: Vec::new(),
            trees,
            offset: vec![0, 1],
            kind: vec![0],
            node: vec![0],
            coordinate: vec![0],
            threshold: vec![0],
            set: vec![1],
            sets: (0..kinds).map(|_| Vec::new()).collect(),
            bytes: hints.as_ref().map_or(0, |_| fs::metadata(&path).map_or(0, |metadata| metadata.len())),
            hints: None,
            splits: Vec::new(),
            rows: Vec::new(),
        };
        if let Some(hints) = hints {
            bundle.read(&hints)?;
            bundle.hints = Some(hints);
        }
        bundle.thresholds.extend(exact);
        Ok(bundle)
    }

    fn read(&mut self, hints: &Hints) -> Said<()> {
        let has = |name: &str| hints.tensors.contains_key(name);
        if has("tree.offset") {
            self.offset = hints.numbers("tree.offset", None)?;
            self.kind = hints.numbers("tree.kind", None)?.into_iter().map(|kind| kind as u8).collect();
            self.node = hints.numbers("tree.node", None)?;
            self.coordinate = hints.numbers("tree.coordinate", None)?;
            self.threshold = hints.numbers("tree.threshold", None)?;
            self.set = vec![0; self.kind.len()];
            self.offset.iter().rev().skip(1).for_each(|root| self.set[*root] = 1);
        }
        if has("tree.bounds") {
            self.set = hints.numbers("tree.bounds", None)?;
        }
        if has("threshold.value") {
            let values = hints.take("threshold.value", None)?;
            self.thresholds = (0..values.len()).filter_map(|at| values.get(at)).collect();
        }
        for (name, offsets) in [("leaf.splits.offset", &mut self.splits), ("leaf.rows.offset", &mut self.rows)] {
            if has(name) {
                *offsets = hints.numbers(name, None)?;
            }
        }
        for name in hints.names() {
            if let ["bounds", set, start, "rows"] = name.as_slice() {
                let set = set.parse::<usize>().map_err(|error| error.to_string())?;
                let start = self.start(hints, set, start)?;
                self.sets[set].push(start);
            }
        }
        Ok(())
    }

    fn start(&self, hints: &Hints, set: usize, start: &str) -> Said<Start> {
        let prefix = format!("bounds.{set}.{start}");
        let mut slopes = Vec::new();
        for name in hints.names() {
            if let ["bounds", own, from, act, "columns"] = name.as_slice()
                && *own == set.to_string()
                && *from == start
            {
                let of = |field: &str| format!("{prefix}.{act}.{field}");
                let columns = hints.numbers(&of("columns"), None)?;
                slopes.push((
                    self.value(act)?,
                    columns,
                    hints.take(&of("lower"), None)?,
                    hints.take(&of("upper"), None)?,
                ));
            }
        }
        Ok(Start { node: self.value(start)?, rows: hints.numbers(&format!("{prefix}.rows"), None)?, slopes })
    }

    fn value(&self, node: &str) -> Said<NodeId> {
        let found = node.parse().ok().and_then(|node| self.documents.value(node));
        found.ok_or_else(|| format!("there is no node {node}"))
    }

    /// The disjuncts that tree `tree` serves.
    pub(crate) fn disjuncts(&self, tree: usize) -> Vec<usize> {
        let trees = self.trees.iter().enumerate();
        trees.filter(|(_, own)| **own == tree).map(|(disjunct, _)| disjunct).collect()
    }

    /// For each tree node the number of leaves below it, itself included.
    pub(crate) fn leaves_below(&self) -> Vec<usize> {
        let mut below = vec![0; self.kind.len()];
        let mut open: Vec<usize> = Vec::new();
        for place in (0..self.kind.len()).rev() {
            below[place] =
                if self.kind[place] == 0 { 1 } else { open.pop().unwrap_or_default() + open.pop().unwrap_or_default() };
            open.push(below[place]);
        }
        below
    }

    /// The number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.kind.iter().filter(|kind| **kind == 0).count()
    }

    /// The arguments of functions, products and maxima in order, each with the first node that takes it.
    pub(crate) fn arguments(&self) -> Vec<(NodeId, Primitive)> {
        let nodes = self.documents.problem().program().nodes().iter();
        let taken = nodes.flat_map(|node| {
            let arguments = match &node.primitive {
                Primitive::Input | Primitive::Affine(_) => vec![],
                Primitive::Univariate { argument, .. } | Primitive::Max { argument, .. } => vec![*argument],
                Primitive::Product { left, right } => vec![*left, *right],
            };
            arguments.into_iter().map(|argument| (argument, node.primitive.clone()))
        });
        let mut found: Vec<(NodeId, Primitive)> = Vec::new();
        for (argument, consumer) in taken {
            if found.iter().all(|(known, _)| *known != argument) {
                found.push((argument, consumer));
            }
        }
        found
    }

    /// The hints of the entries of a range; `disjuncts` are theirs. Of several rows that might be tried the last is.
    pub(crate) fn block(&self, entries: Range<usize>, disjuncts: &[usize]) -> Said<Block> {
        let mut block = Block { first: entries.start, slopes: Vec::new(), multipliers: Vec::new() };
        let list = |offsets: &[usize], prefix: &str, places: &str| -> Said<Vec<Vec<(usize, Dyadic)>>> {
            let (Some(hints), Some(own)) = (&self.hints, offsets.get(entries.start..=entries.end)) else {
                return Ok(vec![Vec::new(); entries.len()]);
            };
            let range = own[0]..own[own.len() - 1];
            let places = hints.numbers(&format!("{prefix}.{places}"), Some(range.clone()))?;
            let multipliers = hints.take(&format!("{prefix}.multiplier"), Some(range.clone()))?;
            let pair = |at: usize| Some((places[at - range.start], multipliers.dyadic(at - range.start)?));
            Ok(own.windows(2).map(|ends| (ends[0]..ends[1]).filter_map(pair).collect()).collect())
        };
        let rows = list(&self.rows, "leaf.rows", "index")?;
        let literals = list(&self.splits, "leaf.splits", "depth")?;
        for ((rows, literals), disjunct) in rows.into_iter().zip(literals).zip(disjuncts) {
            let all = &self.documents.problem().property().disjuncts[*disjunct];
            let rows = if rows.is_empty() { vec![(last_output_row(all), Dyadic::new(1, 0))] } else { rows };
            block.multipliers.push(Multipliers { rows, literals });
        }
        let Some(hints) = &self.hints else { return Ok(block) };
        for name in hints.names() {
            if let ["leaf", act, "columns"] = name.as_slice() {
                block.slopes.push(Columns {
                    node: self.value(act)?,
                    columns: hints.numbers(&format!("leaf.{act}.columns"), None)?,
                    values: hints.take(&format!("leaf.{act}.slope"), Some(entries.clone()))?,
                });
            }
        }
        Ok(block)
    }
}

fn last_output_row(rows: &[Arc<Row>]) -> usize {
    let on_output = |row: &Arc<Row>| row.terms.iter().any(|(variable, _)| matches!(variable, Variable::Y(_)));
    rows.iter().rposition(on_output).unwrap_or_default()
}

/// The thresholds that stand in the certificate itself.
fn exact_thresholds(certificate: &[u8], limits: &Limits) -> Result<Vec<Rational>, certkern_wire::Rejection> {
    let document = json::parse(certificate, limits)?;
    let mut fields = document.object("")?;
    let Some(thresholds) = fields.optional("thresholds") else { return Ok(Vec::new()) };
    let items = thresholds.array("thresholds")?.iter();
    items.map(|item| item.rational("thresholds", limits).map_err(Into::into)).collect()
}
