//! Bundles written straight to disk: tensors one after the other, of which at most one block is held in memory.

use certkern_graph::Graph;
use certkern_onnx::Dtype;
use certkern_seal::Digests;
use certkern_wire::Limits;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The writer of a tensor's elements, little endian.
type Fill<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

/// A safetensors file under way.
#[derive(Default)]
pub(crate) struct Tensors<'a> {
    tensors: Vec<(String, Dtype, Vec<usize>, Fill<'a>)>,
}

impl<'a> Tensors<'a> {
    /// Adds a tensor; `fill` must write as many bytes as its type and shape want.
    pub(crate) fn add(
        &mut self,
        name: impl Into<String>,
        dtype: Dtype,
        shape: &[usize],
        fill: impl Fn(&mut dyn Write) -> io::Result<()> + 'a,
    ) {
        self.tensors.push((name.into(), dtype, shape.to_vec(), Box::new(fill)));
    }

    /// Adds a list of numbers.
    pub(crate) fn u32s(&mut self, name: impl Into<String>, values: &'a [u32]) {
        let fill = |out: &mut dyn Write| values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()));
        self.add(name, Dtype::U32, &[values.len()], fill);
    }

    /// Adds binary32 numbers.
    pub(crate) fn f32s(&mut self, name: impl Into<String>, shape: &[usize], values: &'a [f32]) {
        let fill = |out: &mut dyn Write| values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()));
        self.add(name, Dtype::F32, shape, fill);
    }

    /// Writes the file; gives its length in bytes.
    pub(crate) fn write(&self, path: &Path) -> io::Result<u64> {
        let mut header = Map::new();
        let mut end = 0_usize;
        for (name, dtype, shape, _) in &self.tensors {
            let start = end;
            end += shape.iter().product::<usize>() * dtype.size();
            header.insert(name.clone(), json!({"dtype": dtype.name(), "shape": shape, "data_offsets": [start, end]}));
        }
        let header = Value::Object(header).to_string();
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for (.., fill) in &self.tensors {
            fill(&mut out)?;
        }
        out.flush()?;
        let length = fs::metadata(path)?.len();
        let expected = 8 + header.len() + end;
        if length == expected as u64 { Ok(length) } else { Err(io::Error::other("a tensor of another length")) }
    }
}

/// The numbers of a graph.
pub(crate) enum Payload<'a> {
    /// To be written.
    Tensors(&'a Tensors<'a>),
    /// As a safetensors file.
    File(&'a [u8]),
}

/// What a bundle holds.
pub(crate) struct Documents<'a> {
    /// A graph in `torchlean.ir.v1`.
    pub(crate) graph: &'a str,
    /// The numbers of the graph.
    pub(crate) payload: Payload<'a>,
    /// A property in `certkern.property.v1`.
    pub(crate) property: &'a str,
    /// A certificate in `certkern.leaves.v1`.
    pub(crate) certificate: &'a str,
    /// The tensors of the certificate.
    pub(crate) hints: Option<&'a Tensors<'a>>,
}

/// Writes a bundle of kind `leaves` as the folder `folder`, which must not exist.
pub(crate) fn bundle(folder: &Path, documents: &Documents<'_>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("graph.json"), documents.graph)?;
    fs::write(folder.join("property.json"), documents.property)?;
    fs::write(folder.join("cert.json"), documents.certificate)?;
    let payload = folder.join("payload.safetensors");
    match documents.payload {
        Payload::Tensors(tensors) => tensors.write(&payload).map(drop)?,
        Payload::File(bytes) => fs::write(&payload, bytes)?,
    }
    let mut files = json!({"graph": "graph.json", "payload": "payload.safetensors", "property": "property.json", "certificate": "cert.json"});
    if let Some(hints) = documents.hints {
        hints.write(&folder.join("cert.safetensors"))?;
        files["hints"] = json!("cert.safetensors");
    }
    let refused = |rejection: certkern_wire::Rejection| io::Error::other(format!("{:?}", rejection.first()));
    let limits = Limits::default();
    let payload = fs::read(payload)?;
    let graph = Graph::read(documents.graph.as_bytes(), Some(&payload), &limits).map_err(refused)?;
    let property = certkern_wire::property::parse(documents.property.as_bytes(), &limits).map_err(refused)?;
    let digests = Digests::of(&graph, &property.clone().into()).by_role();
    let digests: Map<String, Value> =
        digests.into_iter().map(|(role, digest)| (role.name().to_owned(), json!(digest))).collect();
    let manifest = json!({"format": "certkern.bundle.v1", "kind": "leaves", "files": files, "digests": digests});
    fs::write(folder.join("bundle.json"), manifest.to_string())
}

/// A property: a box, and as the unsafe set that the first output is at most `bound`. Numbers are spelled as in `certkern.property.v1`.
pub(crate) fn property(lower: &[String], upper: &[String], outputs: usize, bound: &str) -> String {
    let row = json!([[{"y": {"0": "1"}, "bound": bound, "strict": false}]]);
    json!({"format": "certkern.property.v1", "outputs": outputs, "lower": lower, "upper": upper, "unsafe": row})
        .to_string()
}
