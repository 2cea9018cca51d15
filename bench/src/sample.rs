//! A tier over a seeded sample of leaves, by the checker's own walk.

use crate::bundle::Said;
use crate::random::Stream;
use certkern_claims::{Arith, Files, Opened, Sources};
use certkern_wire::Limits;
use certkern_wire::tensors::Source;
use cpu_time::ThreadTime;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file of hints that is read where it lies.
struct OnDisk {
    file: File,
    length: u64,
}

impl Source for OnDisk {
    fn length(&self) -> u64 {
        self.length
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        self.file.read_exact_at(into, offset).is_ok()
    }
}

/// Leaves in a row that are checked together.
const BLOCK: usize = 20;

/// Checks about `leaves` entries in blocks at random places; every one must be closed. Gives the seconds for each and for the bounds of the
/// root.
///
/// # Errors
/// What the checker refuses.
pub(crate) fn sample(folder: &Path, arith: Arith, leaves: usize, seed: u64) -> Said<(f64, f64)> {
    let io = |error: std::io::Error| error.to_string();
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("bundle.json")).map_err(io)?)
        .map_err(|error| error.to_string())?;
    let hints = manifest["files"]["hints"].as_str();
    let mut read = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name().to_string_lossy().into_owned();
        if Some(name.as_str()) != hints {
            let bytes = fs::read(folder.join(&name)).map_err(io)?;
            read.insert(name, bytes);
        }
    }
    let on_disk = match hints {
        Some(name) => {
            let file = File::open(folder.join(name)).map_err(io)?;
            let length = file.metadata().map_err(io)?.len();
            Some((name, OnDisk { file, length }))
        }
        None => None,
    };
    let files: Files<'_> = read.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    let sources: Sources<'_> = on_disk.iter().map(|(name, file)| ((*name).to_owned(), file as &dyn Source)).collect();
    let refused = |rejection: certkern_wire::Rejection| format!("{:?}", rejection.first());
    let opened = Opened::new(&files, &sources, &Limits::default(), arith).map_err(refused)?;
    let start = ThreadTime::now();
    let first = |range| {
        opened.check(range, &()).map(drop).map_err(|(entry, rejection)| format!("{entry}: {}", refused(rejection)))
    };
    first(0..1)?;
    let root = start.elapsed().as_secs_f64();
    let mut stream = Stream::new(seed);
    let block = BLOCK.min(opened.entries());
    let blocks = leaves.min(opened.entries()).div_ceil(block);
    let start = ThreadTime::now();
    for _ in 0..blocks {
        let from = stream.below(opened.entries() - block + 1);
        first(from..from + block)?;
    }
    Ok((start.elapsed().as_secs_f64() / (blocks * block) as f64, root))
}
