//! Reading and digesting a large payload.

use crate::random;
use crate::store::Tensors;
use certkern_onnx::Dtype;
use cpu_time::ThreadTime;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The side of a weight: 64 MiB in binary32.
const SIDE: usize = 4096;

/// Writes a graph of `layers` dense layers of 4096 neurons with its payload; gives the bytes of the payload.
///
/// # Errors
/// What the file system gives.
pub(crate) fn write(folder: &Path, layers: usize) -> io::Result<u64> {
    fs::create_dir_all(folder)?;
    let mut nodes = vec![json!({"id": 0, "kind": "input", "parents": [], "shape": [SIDE]})];
    let mut payload = Tensors::default();
    for id in 1..=layers {
        nodes.push(json!({"id": id, "kind": "linear", "parents": [id - 1], "shape": [SIDE]}));
        payload.add(format!("{id}.bias"), Dtype::F32, &[SIDE], |out| out.write_all(&vec![0; 4 * SIDE]));
        payload.add(format!("{id}.weight"), Dtype::F32, &[SIDE, SIDE], move |out| {
            (0..SIDE * SIDE).try_for_each(|place| out.write_all(&random::unit(id as u64, place as u64).to_le_bytes()))
        });
    }
    let graph = json!({"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [layers], "nodes": nodes});
    fs::write(folder.join("graph.json"), graph.to_string())?;
    payload.write(&folder.join("payload.safetensors"))
}

/// Processor seconds to read a file, and to read it and take its SHA-256: what no checker that digests it can beat.
///
/// # Errors
/// What the file system gives.
pub(crate) fn floor(path: &Path) -> io::Result<(f64, f64)> {
    let mut block = vec![0; 1 << 20];
    let mut seconds = [0.0; 2];
    for (place, seconds) in seconds.iter_mut().enumerate() {
        let (mut file, mut hash) = (File::open(path)?, Sha256::new());
        let start = ThreadTime::now();
        loop {
            let count = file.read(&mut block)?;
            if count == 0 {
                break;
            }
            if place == 1 {
                hash.update(&block[..count]);
            }
        }
        std::hint::black_box(hash.finalize());
        *seconds = start.elapsed().as_secs_f64();
    }
    Ok((seconds[0], seconds[1]))
}
