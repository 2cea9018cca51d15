//! Networks of others, where they are at hand.

use std::fs;
use std::path::PathBuf;

use certkern_onnx::{Imported, import};

use super::evaluate::kinds;

/// The folder of shared data; `None`, said aloud, if there is none and the environment does not insist on it.
pub(crate) fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    let required = std::env::var_os("CERTKERN_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "../shared is absent");
    eprintln!("SKIPPED: ../shared is absent");
    None
}

/// The ONNX files in the folders at this depth below `folder`, with their paths from `folder`.
fn files(folder: &PathBuf, depth: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    if depth > 0 {
        return folders.iter().flat_map(|folder| self::files(folder, depth - 1)).collect();
    }
    files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "onnx")).collect()
}

#[test]
fn every_network_of_the_benchmarks_is_imported() {
    let Some(shared) = shared() else { return };
    let manifest = fs::read_to_string(shared.join("MANIFEST.sha256")).expect("the manifest");
    // Folder, networks, shapes of input and output, ReLU layers.
    let expected = [
        ("acasxu", 6, &[1, 1, 1, 5][..], &[1, 5][..], 6),
        ("mnist_fc", 1, &[1, 784, 1][..], &[1, 10][..], 2),
        ("oval21_conv", 1, &[1, 3, 32, 32][..], &[1, 10][..], 5),
        ("rl_cartpole", 1, &[1, 4][..], &[1, 2][..], 2),
        ("reach_prob_vdp", 1, &[1, 3][..], &[1, 3][..], 2),
        ("safenlp_ruarobot", 1, &[1, 30][..], &[1, 2][..], 1),
    ];
    for (folder, count, input, output, relus) in expected {
        let files = files(&shared.join(folder).join("onnx"), 0);
        assert_eq!(files.len(), count, "{folder}");
        for file in files {
            let imported = read(&file);
            assert_eq!(
                (&imported.input_shape[..], &imported.output_shapes[..]),
                (input, &[output.to_vec()][..]),
                "{file:?}"
            );
            assert_eq!(kinds(&imported).iter().filter(|kind| *kind == "relu").count(), relus, "{file:?}");
            let name = file.strip_prefix(&shared).expect("inside").to_str().expect("a name");
            let line = manifest.lines().find(|line| line.contains(name)).expect("a line of the manifest");
            assert!(line.starts_with(&imported.sha256), "{name}");
        }
    }
    let tll = files(&shared.join("tllverify/onnx"), 0);
    assert_eq!(tll.len(), 5);
    for file in tll {
        let imported = read(&file);
        assert_eq!(
            (&imported.input_shape[..], &imported.output_shapes[..]),
            (&[1, 2][..], &[vec![1, 1]][..]),
            "{file:?}"
        );
    }
}

#[test]
fn the_networks_of_the_dumps_are_imported() {
    let Some(shared) = shared() else { return };
    let files = files(&shared.join("abcrown_dumps"), 1);
    for file in &files {
        let sigmoid = file.ends_with("digits_sigmoid.onnx");
        assert_eq!(read(file).graph.contains(r#""kind":"sigmoid""#), sigmoid, "{file:?}");
    }
    assert!(files.len() > 1);
}

fn read(file: &PathBuf) -> Imported {
    let bytes = fs::read(file).expect("a file");
    import(&bytes).unwrap_or_else(|error| panic!("{file:?}: {error}"))
}
