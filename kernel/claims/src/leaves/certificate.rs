//! The certificate as read: `cert.json` and its tensors.

use super::bounds::{self, BoundSet};
use super::hints::LeafHints;
use super::tree::{self, Trees};
use crate::bundle::{Named, finish};
use certkern_core::num::Rational;
use certkern_seal::Documents;
use certkern_wire::json::{self, Json};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Fault, Reason, Rejection};
use certkern_wire::tensors::{Source, TensorFile};

/// Digits of 52 bits that rows keep where the certificate does not say.
const DIGITS: usize = 3;

/// A certificate of kind `leaves` whose arrays fit each other and the documents.
#[derive(Debug)]
pub(super) struct Certificate<'a> {
    pub(super) trees: Trees,
    /// For each tree the disjuncts that it refutes; every disjunct has one tree.
    pub(super) served: Vec<Served>,
    pub(super) thresholds: Vec<Rational>,
    pub(super) sets: Vec<BoundSet>,
    pub(super) hints: LeafHints<'a>,
    /// Pairs of a leaf and a disjunct.
    pub(super) entries: usize,
    pub(super) digits: usize,
}

/// The disjuncts that a tree refutes, in ascending order, and the first of its entries.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) disjuncts: Vec<usize>,
    pub(super) first: usize,
}

/// What stands in `cert.json`.
struct Header {
    trees: Vec<usize>,
    thresholds: Vec<Rational>,
    /// For each bound set whether it has slopes.
    sets: Vec<bool>,
    digits: usize,
}

impl<'a> Certificate<'a> {
    pub(super) fn open(
        documents: &Documents,
        (name, bytes): Named<'_>,
        (file, hints): (&str, &'a dyn Source),
        limits: &Limits,
    ) -> Result<Self, Rejection> {
        let header = read_header(bytes, limits).map_err(|rejection| rejection.in_file(name))?;
        let disjuncts = documents.problem().property().disjuncts.len();
        if header.trees.len() != disjuncts {
            let text = format!("`trees` has {} entries for {disjuncts} disjuncts", header.trees.len());
            return Err(Rejection::from(Reason::TreeMalformed(text)).in_file(name));
        }
        let open = || {
            let mut tensors = TensorFile::streamed(hints, limits, LeafHints::by_rows)?;
            let certificate = Self::of(documents, header, &mut tensors, limits)?;
            tensors.finish()?;
            Ok(certificate)
        };
        open().map_err(|rejection: Rejection| rejection.in_file(file))
    }

    fn of(
        documents: &Documents,
        header: Header,
        tensors: &mut TensorFile<'a>,
        limits: &Limits,
    ) -> Result<Self, Rejection> {
        let Header { trees: trees_of_disjuncts, thresholds, sets, digits } = header;
        let (trees, thresholds) = tree::read(tensors, thresholds, sets.len(), documents, limits)?;
        let mut served = serving(trees.count(), &trees_of_disjuncts)?;
        let mut entries = 0_usize;
        for (tree, served) in served.iter_mut().enumerate() {
            served.first = entries;
            let more = trees.leaves(tree).checked_mul(served.disjuncts.len());
            let sum = more.and_then(|more| entries.checked_add(more));
            entries = sum.ok_or(Reason::Limit { name: "tree-nodes", limit: u64::MAX })?;
        }
        let sets = bounds::read(tensors, &sets, documents)?;
        let hints = LeafHints::open(tensors, entries, documents, limits)?;
        Ok(Self { trees, served, thresholds, sets, hints, entries, digits })
    }
}

/// For each tree its disjuncts: every tree has one, every disjunct names a tree.
fn serving(trees: usize, trees_of_disjuncts: &[usize]) -> Result<Vec<Served>, Rejection> {
    let mut served: Vec<Served> = (0..trees).map(|_| Served { disjuncts: Vec::new(), first: 0 }).collect();
    for (disjunct, tree) in trees_of_disjuncts.iter().enumerate() {
        let Some(served) = served.get_mut(*tree) else {
            return Err(Reason::TreeMalformed(format!("tree {tree} of disjunct {disjunct} does not exist")).into());
        };
        served.disjuncts.push(disjunct);
    }
    match served.iter().position(|served| served.disjuncts.is_empty()) {
        Some(tree) => Err(Reason::TreeMalformed(format!("tree {tree} is no disjunct's tree")).into()),
        None => Ok(served),
    }
}

/// A tensor file without tensors, for certificates that have no hints.
pub(super) const EMPTY: &&[u8] = &b"\x02\0\0\0\0\0\0\0{}".as_slice();

fn read_header(bytes: &[u8], limits: &Limits) -> Result<Header, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", "certkern.leaves.v1")?;
    let trees = list(fields.required("trees")?, "trees", |json, path| json.index(path))?;
    let thresholds = match fields.optional("thresholds") {
        None => Vec::new(),
        Some(thresholds) => list(thresholds, "thresholds", |json, path| json.rational(path, limits))?,
    };
    let sets = match fields.optional("bounds") {
        None => vec![false],
        Some(sets) => list(sets, "bounds", |json, path| match json.string(path)? {
            "plain" => Ok(false),
            "slopes" => Ok(true),
            found => {
                let (expected, found) = ("`plain` or `slopes`".to_owned(), found.to_owned());
                Err(json.fault(Reason::JsonValue { expected, found }, path))
            }
        })?,
    };
    let digits = match fields.optional("precision") {
        None => DIGITS,
        Some(json) => match json.index("precision")? {
            digits @ 2..=16 => digits,
            other => {
                let found = format!("{other} (2 to 16 is allowed)");
                return Err(json.fault(Reason::JsonNumber(found), "precision").into());
            }
        },
    };
    finish(fields)?;
    Ok(Header { trees, thresholds, sets, digits })
}

fn list<T>(json: &Json, path: &str, read: impl Fn(&Json, &str) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    json.array(path)?.iter().enumerate().map(|(i, item)| read(item, &format!("{path}[{i}]"))).collect()
}
