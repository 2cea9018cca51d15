//! Entries of the state dictionary, bit for bit.

use crate::site::{Float, Refusal, Site};
use certkern_core::tensor::{Tensor, Values};
use certkern_onnx::{Dtype, write_safetensors};

/// One tensor of the state dictionary. `float` is `None` for a counter.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) float: Option<Float>,
    shape: Vec<usize>,
    data: Vec<u8>,
}

/// A tensor as it is.
pub(crate) fn entry(site: &Site, name: &str, tensor: &Tensor) -> Result<Entry, Refusal> {
    let (float, _, data) = bytes(site, name, tensor)?;
    Ok(Entry { name: name.to_owned(), float: Some(float), shape: tensor.shape().to_vec(), data })
}

/// What PyTorch counts in training: no batch yet.
pub(crate) fn counter(name: String) -> Entry {
    Entry { name, float: None, shape: Vec::new(), data: vec![0; 8] }
}

/// The blocks of a dense weight [A, B, …] of a grouped convolution, one below the other: [A, B/groups, …].
pub(crate) fn blocks(site: &Site, name: &str, tensor: &Tensor, groups: usize) -> Result<Entry, Refusal> {
    let mut whole = entry(site, name, tensor)?;
    let [rows, columns, ..] = *tensor.shape() else {
        return Err(site.refuse("a weight of fewer than two axes", "please report it"));
    };
    if groups > 1 {
        let (row, piece) = (whole.data.len() / rows, whole.data.len() / rows / groups);
        let group_of = |index: usize| index / (rows / groups);
        let parts = whole.data.chunks(row).enumerate().map(|(index, row)| &row[group_of(index) * piece..][..piece]);
        whole.data = parts.collect::<Vec<_>>().concat();
        whole.shape[1] = columns / groups;
    }
    Ok(whole)
}

fn bytes(site: &Site, name: &str, tensor: &Tensor) -> Result<(Float, Dtype, Vec<u8>), Refusal> {
    match tensor.values() {
        Values::Binary32(bits) => {
            Ok((Float::Binary32, Dtype::F32, bits.iter().flat_map(|b| b.to_le_bytes()).collect()))
        }
        Values::Binary64(bits) => {
            Ok((Float::Binary64, Dtype::F64, bits.iter().flat_map(|b| b.to_le_bytes()).collect()))
        }
        Values::Exact(_) => {
            Err(site.refuse(format!("{name} holds numbers that are no floats"), "give binary32 or binary64"))
        }
    }
}

/// The file.
pub(crate) fn file(entries: Vec<Entry>) -> Vec<u8> {
    let tensors: Vec<_> = entries
        .into_iter()
        .map(|Entry { name, float, shape, data }| {
            let dtype = match float {
                Some(Float::Binary32) => Dtype::F32,
                Some(Float::Binary64) => Dtype::F64,
                None => Dtype::I64,
            };
            (name, dtype, shape, data)
        })
        .collect();
    write_safetensors(&tensors)
}
