//! What has an exact counterexample is never accepted, whatever the certificate says.
//!
//! The instances are those of `../shared/data/*/truth.csv` that are proved satisfiable, and the misread properties of `certs/misread`, each of
//! which has a counterexample that a careless reading hides. Certificates are the trivial tree, random trees with random slopes and
//! multipliers, and the certificates of true claims about neighbouring networks.

use crate::support::{Tensor, entries, f64s, one_leaf, only, root, shared, small_dump, text, u8s, u32s};
use certkern_abcrown::SourceNames;
use certkern_core::property::Property;
use certkern_graph::Graph;
use certkern_onnx::write_safetensors;
use certkern_report::Words;
use certkern_seal::{Digests, Verdict};
use certkern_wire::{Limits, Role};
use num_traits::ToPrimitive;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A network and a property with a counterexample.
struct Instance {
    name: String,
    graph_json: Vec<u8>,
    payload: Vec<u8>,
    property_text: Vec<u8>,
    graph: Graph,
    property: Property,
}

/// `cert.json` and `cert.safetensors`.
type Certificate = (Vec<u8>, Vec<u8>);

impl Instance {
    fn read(name: String, onnx: &Path, property: &Path) -> Result<Self, String> {
        let limits = Limits::default();
        let imported = certkern_onnx::import(&fs::read(onnx).unwrap()).map_err(|error| error.to_string())?;
        let (graph_json, payload) = (imported.graph.into_bytes(), imported.payload);
        let graph =
            Graph::read(&graph_json, Some(&payload), &limits).map_err(|rejection| Words(&rejection).to_string())?;
        let property_text = fs::read(property).unwrap();
        let property = certkern_claims::read_property(text(property), &property_text, &limits);
        let property = property.map_err(|rejection| Words(&rejection).to_string())?;
        Ok(Self { name, graph_json, payload, property_text, graph, property })
    }

    /// The verdict on the bundle of this claim with this certificate.
    fn check(&self, (certificate, hints): &Certificate) -> Verdict {
        let digests = Digests::of(&self.graph, &self.property.clone().into()).by_role();
        let digests: BTreeMap<&str, String> =
            digests.iter().map(|(role, hex)| (Role::name(*role), hex.clone())).collect();
        let manifest = json!({"format": "certkern.bundle.v1", "kind": "leaves", "digests": digests, "files": {
            "graph": "graph.json", "payload": "payload.safetensors", "property": "property.vnnlib",
            "certificate": "cert.json", "hints": "cert.safetensors"}});
        let manifest = manifest.to_string();
        let files: [(&str, &[u8]); 6] = [
            ("bundle.json", manifest.as_bytes()),
            ("graph.json", &self.graph_json),
            ("payload.safetensors", &self.payload),
            ("property.vnnlib", &self.property_text),
            ("cert.json", certificate),
            ("cert.safetensors", hints),
        ];
        let files = files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
        certkern_claims::check_bundle(&files, &Limits::default(), &())
    }

    /// The nodes that may be split.
    fn split_nodes(&self) -> Vec<usize> {
        let relus = self.graph.nodes().iter().filter(|node| node.kind() == "relu");
        let mut nodes: Vec<usize> = relus.map(|node| node.parents()[0]).collect();
        nodes.push(self.graph.input_id());
        nodes
    }

    /// A threshold that may cut something: within the region for inputs, at zero or near it for pre-activations.
    fn threshold(&self, node: usize, coordinate: usize, random: &mut Random) -> f64 {
        if node == self.graph.input_id() {
            let end = |ends: &[certkern_core::num::Rational]| ends[coordinate].to_f64().unwrap();
            let (low, high) = (end(&self.property.lower), end(&self.property.upper));
            return low + random.unit() * (high - low);
        }
        if random.below(2) == 0 { 0.0 } else { random.unit() * 4.0 - 2.0 }
    }

    /// A certificate with a random tree of `splits` splits for all disjuncts together, and random slopes and multipliers of every kind.
    fn random_certificate(&self, splits: usize, random: &mut Random) -> Certificate {
        let disjuncts = &self.property.disjuncts;
        let (mut tree, mut leaf_depths) = (Tree::default(), Vec::new());
        self.grow(splits, 0, &mut tree, &mut leaf_depths, random);
        let entries: Vec<(usize, usize)> =
            leaf_depths.iter().flat_map(|depth| (0..disjuncts.len()).map(|disjunct| (*depth, disjunct))).collect();
        let mut tensors = vec![
            u32s("tree.offset", &[0, tree.kind.len()]),
            u8s("tree.kind", &tree.kind),
            u32s("tree.node", &tree.node),
            u32s("tree.coordinate", &tree.coordinate),
            u32s("tree.threshold", &tree.threshold),
        ];
        if !tree.thresholds.is_empty() {
            tensors.push(f64s("threshold.value", &[tree.thresholds.len()], &tree.thresholds));
        }
        for (id, node) in self.graph.nodes().iter().enumerate().filter(|(_, node)| node.kind() == "relu") {
            let columns: Vec<usize> = (0..node.width()).collect();
            let slopes: Vec<f64> = (0..entries.len() * columns.len()).map(|_| random.slope()).collect();
            tensors.push(u32s(&format!("leaf.{id}.columns"), &columns));
            tensors.push(f64s(&format!("leaf.{id}.slope"), &[entries.len(), columns.len()], &slopes));
        }
        let mut ragged = |name: &str, index: &str, lengths: Vec<usize>| {
            let mut offsets = vec![0];
            offsets.extend(lengths.iter().scan(0, |end, length| {
                *end += length;
                Some(*end)
            }));
            let places: Vec<usize> = lengths.iter().flat_map(|length| 0..*length).collect();
            let multipliers: Vec<f64> = places.iter().map(|_| random.unit() * 3.0).collect();
            tensors.push(u32s(&format!("leaf.{name}.offset"), &offsets));
            tensors.push(u32s(&format!("leaf.{name}.{index}"), &places));
            tensors.push(f64s(&format!("leaf.{name}.multiplier"), &[multipliers.len()], &multipliers));
        };
        ragged("rows", "index", entries.iter().map(|(_, disjunct)| disjuncts[*disjunct].len()).collect());
        ragged("splits", "depth", entries.iter().map(|(depth, _)| *depth).collect());
        let sets = random.below(2) == 0;
        if sets {
            let applied: Vec<usize> = tree.kind.iter().map(|_| random.below(3)).collect();
            tensors.push(u32s("tree.bounds", &applied));
            self.random_slopes(1, &mut tensors, random);
        }
        (header(disjuncts.len(), sets), write_safetensors(&tensors))
    }

    /// Random slopes for bound set `set`: for a few rows of each argument of a `relu`, over all `relu` nodes before it.
    fn random_slopes(&self, set: usize, tensors: &mut Vec<Tensor>, random: &mut Random) {
        let nodes = self.graph.nodes();
        for start in self.split_nodes().into_iter().filter(|node| *node != self.graph.input_id()) {
            let mut before = vec![start];
            let mut next = 0;
            while let Some(node) = before.get(next) {
                let parents = nodes[*node].parents().iter().filter(|parent| !before.contains(parent));
                let parents: Vec<usize> = parents.copied().collect();
                before.extend(parents);
                next += 1;
            }
            before.retain(|node| nodes[*node].kind() == "relu");
            if before.is_empty() {
                continue;
            }
            let rows: Vec<usize> = (0..nodes[start].width()).filter(|_| random.below(4) == 0).collect();
            tensors.push(u32s(&format!("bounds.{set}.{start}.rows"), &rows));
            for act in before {
                let columns: Vec<usize> = (0..nodes[act].width()).collect();
                tensors.push(u32s(&format!("bounds.{set}.{start}.{act}.columns"), &columns));
                for side in ["lower", "upper"] {
                    let slopes: Vec<f64> = (0..rows.len() * columns.len()).map(|_| random.slope()).collect();
                    let name = format!("bounds.{set}.{start}.{act}.{side}");
                    tensors.push(f64s(&name, &[rows.len(), columns.len()], &slopes));
                }
            }
        }
    }

    /// Grows a subtree of `splits` splits in preorder.
    fn grow(&self, splits: usize, depth: usize, tree: &mut Tree, leaf_depths: &mut Vec<usize>, random: &mut Random) {
        if splits == 0 {
            tree.push(0, 0, 0, 0);
            leaf_depths.push(depth);
            return;
        }
        let nodes = self.split_nodes();
        let node = nodes[random.below(nodes.len())];
        let coordinate = random.below(self.graph.nodes()[node].width());
        tree.thresholds.push(self.threshold(node, coordinate, random));
        tree.push(1, node, coordinate, tree.thresholds.len() - 1);
        let left = random.below(splits);
        self.grow(left, depth + 1, tree, leaf_depths, random);
        self.grow(splits - 1 - left, depth + 1, tree, leaf_depths, random);
    }
}

/// The arrays of a tree in preorder.
#[derive(Default)]
struct Tree {
    kind: Vec<u8>,
    node: Vec<usize>,
    coordinate: Vec<usize>,
    threshold: Vec<usize>,
    thresholds: Vec<f64>,
}

impl Tree {
    fn push(&mut self, kind: u8, node: usize, coordinate: usize, threshold: usize) {
        self.kind.push(kind);
        self.node.push(node);
        self.coordinate.push(coordinate);
        self.threshold.push(threshold);
    }
}

/// `cert.json` of one tree for all disjuncts, with two bound sets or none.
fn header(disjuncts: usize, sets: bool) -> Vec<u8> {
    let mut header = json!({"format": "certkern.leaves.v1", "trees": vec![0; disjuncts]});
    if sets {
        header["bounds"] = json!(["plain", "slopes"]);
    }
    header.to_string().into_bytes()
}

/// SplitMix64, seeded, so that a failure can be found again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n).unwrap()).unwrap()
    }

    /// A number of [0, 1) with 53 bits.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A slope of a ReLU: often at an end of [0, 1].
    fn slope(&mut self) -> f64 {
        match self.below(4) {
            0 => 0.0,
            1 => 1.0,
            _ => self.unit(),
        }
    }
}

/// What was checked, and what must not have happened.
#[derive(Default)]
struct Tally {
    instances: usize,
    checks: usize,
    codes: BTreeMap<String, usize>,
    accepted: Vec<String>,
}

impl Tally {
    fn check(&mut self, instance: &Instance, what: &str, certificate: &Certificate) {
        self.checks += 1;
        match instance.check(certificate) {
            Verdict::Accepted(_) => self.accepted.push(format!("{}: {what}", instance.name)),
            Verdict::Rejected(rejection) => *self.codes.entry(rejection.first().reason.code()).or_default() += 1,
        }
    }

    /// The trivial tree, then `trees` random ones. A certificate must be well formed, or it attacks nothing.
    fn attack(&mut self, instance: &Instance, trees: usize, seed: u64) {
        self.instances += 1;
        self.check(instance, "one leaf", &(header(instance.property.disjuncts.len(), false), one_leaf()));
        let mut random = Random(seed);
        for tree in 0..trees {
            let certificate = instance.random_certificate(tree % 5, &mut random);
            self.check(instance, &format!("seed {seed}, tree {tree}"), &certificate);
        }
    }

    #[track_caller]
    fn finish(&self, instances: usize, checks: usize) {
        eprintln!("{} instances, {} checks, rejected with {:?}", self.instances, self.checks, self.codes);
        assert!(self.accepted.is_empty(), "FALSE CLAIMS ACCEPTED:\n{}", self.accepted.join("\n"));
        assert!(self.instances >= instances && self.checks >= checks);
    }
}

/// The instances of a benchmark folder that are proved satisfiable.
fn satisfiable(folder: &Path) -> Vec<Instance> {
    let table = fs::read_to_string(folder.join("truth.csv")).unwrap();
    let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<&str>>());
    let proved = rows.filter(|cells| cells.last().unwrap().starts_with("SAT_PROVED"));
    let read = |cells: Vec<&str>| {
        let (onnx, property) = (cells[0], cells[1]);
        Instance::read(format!("{onnx} {property}"), &folder.join(onnx), &folder.join(property)).unwrap()
    };
    proved.map(read).collect()
}

/// The benchmark folders.
fn benchmarks(shared: &Path) -> Vec<PathBuf> {
    entries(shared).into_iter().filter(|folder| folder.join("truth.csv").is_file()).collect()
}

#[test]
fn satisfiable_benchmarks_are_never_accepted() {
    let Some(shared) = shared() else { return };
    let mut tally = Tally::default();
    for folder in benchmarks(&shared) {
        for instance in &satisfiable(&folder) {
            let seed = 1000 + u64::try_from(tally.instances).unwrap();
            // Exact rows through wide layers take long.
            let values: usize = instance.graph.nodes().iter().map(|node| node.width()).sum();
            let trees = if values > 1000 { 4 } else { 40 };
            tally.attack(instance, trees, seed);
        }
    }
    assert!(
        !tally.codes.keys().any(|code| code != "leaf.unproved"),
        "a certificate that attacks nothing: {:?}",
        tally.codes
    );
    // 38 rows of the tables are proved satisfiable.
    tally.finish(38, 1000);
}

#[test]
fn misread_properties_are_never_accepted() {
    let mut tally = Tally::default();
    for folder in entries(&root().join("certs/misread")).iter().filter(|path| path.is_dir()) {
        let name = text(folder.strip_prefix(root()).unwrap()).to_owned();
        let instance = Instance::read(name, &only(folder, "onnx"), &only(folder, "vnnlib")).unwrap();
        tally.attack(&instance, 100, 7);
    }
    tally.finish(5, 500);
}

#[test]
fn certificates_of_true_claims_do_not_prove_false_ones() {
    let Some(shared) = shared() else { return };
    let instances = satisfiable(&shared.join("acasxu"));
    let dumps = entries(&shared.join("abcrown_dumps"));
    let mut tally = Tally { instances: instances.len(), ..Tally::default() };
    for dump in dumps.iter().filter(|dump| text(dump).contains("acasxu")) {
        let files = converted(dump);
        let certificate: Value = serde_json::from_slice(&files["cert.json"]).unwrap();
        for instance in &instances {
            if certificate["trees"].as_array().unwrap().len() == instance.property.disjuncts.len() {
                let stolen = (files["cert.json"].clone(), files["cert.safetensors"].clone());
                tally.check(instance, text(dump.strip_prefix(&shared).unwrap()), &stolen);
            }
        }
    }
    tally.finish(7, 20);
}

/// The files of the bundle of a dump.
fn converted(dump: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |path: PathBuf| fs::read(path).unwrap();
    let name = || "net".to_owned();
    let names = SourceNames { onnx: name(), property: name(), manifest: name(), tensors: name() };
    let (manifest, tensors) = (read(dump.join("manifest.json")), read(dump.join("tensors.safetensors")));
    let (onnx, property) = (read(only(dump, "onnx")), read(only(dump, "vnnlib")));
    certkern_abcrown::convert(&manifest, &tensors, &onnx, &property, &names).unwrap().files
}

/// What the tests above never see: an instance checked by the same code and accepted, because its claim is true.
#[test]
fn a_true_claim_is_accepted() {
    let [dump, onnx, property] = small_dump();
    let mut files = converted(&dump);
    let mut take = |name: &str| files.remove(name).unwrap();
    let certificate = (take("cert.json"), take("cert.safetensors"));
    let instance = Instance::read("small".to_owned(), &onnx, &property).unwrap();
    assert!(matches!(instance.check(&certificate), Verdict::Accepted(_)));
}
