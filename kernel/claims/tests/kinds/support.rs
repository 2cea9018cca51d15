//! Small bundles for tests, made in memory.

use certkern_claims::{Files, check_bundle};
use certkern_graph::Graph;
use certkern_seal::{Digests, Verdict};
use certkern_wire::limits::Limits;
use certkern_wire::property;
use std::collections::BTreeMap;

/// A tensor for a safetensors file.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) dtype: &'static str,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn u32s(values: &[u32]) -> Array {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array { dtype: "U32", shape: vec![values.len()], bytes }
}

pub(crate) fn u8s(values: &[u8]) -> Array {
    Array { dtype: "U8", shape: vec![values.len()], bytes: values.to_vec() }
}

pub(crate) fn f64s(shape: &[usize], values: &[f64]) -> Array {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array { dtype: "F64", shape: shape.to_vec(), bytes }
}

/// `y = relu(x − 1/4) − relu(−x)`.
pub(crate) const GRAPH: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[3],"nodes":[
{"id":0,"kind":"input","parents":[],"shape":[1]},
{"id":1,"kind":"linear","parents":[0],"shape":[2],"weight":[[1],[-1]],"bias":[-0.25,0]},
{"id":2,"kind":"relu","parents":[1],"shape":[2]},
{"id":3,"kind":"linear","parents":[2],"shape":[1],"weight":[[1,-1]],"bias":[0]}]}"#;

/// `y ≥ bound` is unsafe, for `x ∈ [−1, 1]`.
pub(crate) fn above(bound: &str) -> String {
    format!(
        r#"{{"format":"certkern.property.v1","outputs":1,"lower":[-1],"upper":[1],"unsafe":[[{{"y":{{"0":"-1"}},"bound":"-{bound}","strict":false}}]]}}"#
    )
}

/// A bundle whose digests are computed from its documents.
#[derive(Clone)]
pub(crate) struct Bundle {
    pub(crate) kind: &'static str,
    pub(crate) graph: String,
    pub(crate) property: String,
    pub(crate) certificate: String,
    pub(crate) hints: BTreeMap<String, Array>,
}

impl Bundle {
    pub(crate) fn hint(mut self, name: &str, array: Array) -> Self {
        self.hints.insert(name.to_owned(), array);
        self
    }

    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let limits = Limits { graph_elements: 1 << 24, ..Limits::default() };
        let graph = Graph::read(self.graph.as_bytes(), Some(&safetensors(&BTreeMap::new())), &limits).unwrap();
        let property = property::parse(self.property.as_bytes(), &limits).unwrap();
        let digests = Digests::of(&graph, &property.clone().into());
        let digests: Vec<String> =
            digests.by_role().iter().map(|(role, hex)| format!("\"{}\":\"{hex}\"", role.name())).collect();
        let manifest = format!(
            r#"{{"format":"certkern.bundle.v1","kind":"{}","files":{{"graph":"graph.json","payload":"payload.safetensors",
            "property":"property.json","certificate":"cert.json"{}}},"digests":{{{}}}}}"#,
            self.kind,
            if self.kind == "leaves" { ",\"hints\":\"cert.safetensors\"" } else { "" },
            digests.join(",")
        );
        let mut files = BTreeMap::from([
            ("bundle.json".to_owned(), manifest.into_bytes()),
            ("graph.json".to_owned(), self.graph.clone().into_bytes()),
            ("payload.safetensors".to_owned(), safetensors(&BTreeMap::new())),
            ("property.json".to_owned(), self.property.clone().into_bytes()),
            ("cert.json".to_owned(), self.certificate.clone().into_bytes()),
        ]);
        if self.kind == "leaves" {
            files.insert("cert.safetensors".to_owned(), safetensors(&self.hints));
        }
        files
    }

    pub(crate) fn check(&self) -> Verdict {
        check(&self.files())
    }
}

pub(crate) fn check(files: &BTreeMap<String, Vec<u8>>) -> Verdict {
    check_within(files, &Limits::default())
}

pub(crate) fn check_within(files: &BTreeMap<String, Vec<u8>>, limits: &Limits) -> Verdict {
    let files: Files<'_> = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    check_bundle(&files, limits, &())
}

pub(crate) fn safetensors(arrays: &BTreeMap<String, Array>) -> Vec<u8> {
    let mut header = Vec::new();
    let mut data: Vec<u8> = Vec::new();
    for (name, array) in arrays {
        let start = data.len();
        data.extend(&array.bytes);
        header.push(format!(
            r#""{name}":{{"dtype":"{}","shape":{:?},"data_offsets":[{start},{}]}}"#,
            array.dtype,
            array.shape,
            data.len()
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(data);
    file
}

/// xorshift64*.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}
