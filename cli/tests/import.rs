//! `certkern import`: what is written, and what is never overwritten.

use crate::support::{certkern, entries, root, small_bundle, small_dump, text};
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    entries(folder).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_network_becomes_a_graph_and_a_payload() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("deep/net");
    let [_, net, _] = small_dump();
    // Twice: an earlier import may be replaced.
    for _ in 0..2 {
        let run = certkern(["import", "onnx", text(&net), "-o", text(&out)]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert_eq!(names(&out), ["graph.json", "payload.safetensors"]);
        let digests = certkern(["digest", text(&out.join("graph.json")), text(&out.join("payload.safetensors"))]);
        assert!(run.stdout.starts_with(&digests.stdout), "{}{}", run.stdout, digests.stdout);
        assert!(run.stdout.contains("input    [1, 2]\noutput   [1, 1]\n"), "{}", run.stdout);
    }
    let bundle = scratch.path().join("bundle");
    small_bundle(&bundle);
    for name in ["graph.json", "payload.safetensors"] {
        assert_eq!(fs::read(out.join(name)).unwrap(), fs::read(bundle.join(name)).unwrap());
    }
}

#[test]
fn an_input_that_is_frozen_is_given_by_a_file() {
    let scratch = tempfile::tempdir().unwrap();
    let [_, net, _] = small_dump();
    let tensor = scratch.path().join("t.npy");
    fs::write(&tensor, b"\x93NUMPY\x01\x00").unwrap();
    let out = scratch.path().join("net");
    let freeze = |text_of: &str| certkern(["import", "onnx", text(&net), "--freeze", text_of, "-o", text(&out)]);
    freeze("x").expect_usage("--freeze x is not NAME=FILE");
    freeze("x=absent").expect_usage("cannot read absent");
    let run = freeze(&format!("no=such={}", text(&tensor)));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`no=such` is to be frozen, and is no graph input"), "{}", run.stderr);
    assert!(!out.exists());
}

#[test]
fn other_folders_stay_as_they_are() {
    let scratch = tempfile::tempdir().unwrap();
    let [dump, net, property] = small_dump();
    let copy = scratch.path().join("graph.json");
    fs::copy(&net, &copy).unwrap();
    let before = names(&dump);
    let onnx = |net: &Path, out: &Path| certkern(["import", "onnx", text(net), "-o", text(out)]);
    onnx(&net, &dump).expect_usage("would overwrite");
    onnx(&net, &net).expect_usage("would overwrite");
    // A network by the very name of the output.
    onnx(&copy, scratch.path()).expect_usage("would overwrite");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&net).unwrap());
    let other = scratch.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("mine"), "").unwrap();
    onnx(&net, &other).expect_usage("holds mine");
    onnx(&net, &other.join("mine")).expect_usage("is no folder");
    let abcrown = |out: &Path| {
        let (onnx, property) = (text(&net), text(&property));
        certkern(["import", "abcrown", text(&dump), "--onnx", onnx, "--property", property, "-o", text(out)])
    };
    abcrown(&dump).expect_usage("would overwrite");
    abcrown(&dump.join("bundle")).expect_usage("would overwrite");
    abcrown(&other).expect_usage("choose another folder");
    assert_eq!(names(&other), ["mine"]);
    assert_eq!(names(&dump), before);
    assert_eq!(names(scratch.path()), ["graph.json", "other"]);
}

#[test]
fn what_cannot_be_imported_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let [dump, net, property] = small_dump();
    let out = scratch.path().join("out");
    let broken = certkern(["import", "onnx", text(&property), "-o", text(&out)]);
    assert_eq!((broken.code, broken.stdout.as_str()), (2, ""));
    assert!(broken.stderr.contains("property.vnnlib"), "{}", broken.stderr);
    let other = root().join("certs/misread/two_matmuls");
    let (onnx, spec) = (other.join("net.onnx"), other.join("property.vnnlib"));
    let mixed = certkern([
        "import",
        "abcrown",
        text(&dump),
        "--onnx",
        text(&onnx),
        "--property",
        text(&spec),
        "-o",
        text(&out),
    ]);
    assert_eq!((mixed.code, mixed.stdout.as_str()), (2, ""));
    assert!(!out.exists());
    certkern(["import", "onnx", "absent", "-o", text(&out)]).expect_usage("cannot read absent");
    certkern(["import", "onnx", text(&net)]).expect_usage("--output");
}

#[test]
fn a_dump_without_its_files_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let [small, net, property] = small_dump();
    let (dump, out) = (scratch.path().join("dump"), scratch.path().join("out"));
    fs::create_dir(&dump).unwrap();
    let import = || {
        let (onnx, property) = (text(&net), text(&property));
        certkern(["import", "abcrown", text(&dump), "--onnx", onnx, "--property", property, "-o", text(&out)])
    };
    import().expect_usage("manifest.json");
    // What the hook has written before it is finished.
    fs::create_dir(dump.join(".partial")).unwrap();
    let cut = import();
    assert_eq!((cut.code, cut.stdout.as_str()), (2, ""));
    assert!(cut.stderr.contains("manifest.json is missing; the run was cut off, run it again"), "{}", cut.stderr);
    fs::copy(small.join("manifest.json"), dump.join("manifest.json")).unwrap();
    import().expect_usage("tensors.safetensors");
    // Of a folder of another dump the name is told.
    fs::write(dump.join("tensors.safetensors"), "").unwrap();
    let empty = import();
    let wanted = format!("{}: tensors.safetensors: no safetensors file, or cut off", text(&dump));
    assert!(empty.code == 2 && empty.stderr.contains(&wanted), "{}", empty.stderr);
    assert!(!out.exists());
}

/// A field of a message whose body is shorter than 128 bytes.
fn field(number: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2, u8::try_from(body.len()).unwrap()];
    bytes.extend(body);
    bytes
}

/// `y = x + s` on vectors of one element, as ONNX spells it (onnx.proto): s is a graph input without an initializer.
fn sum_of_two_inputs() -> Vec<u8> {
    let value = |name: &str| {
        let shape = field(2, &field(1, &[1 << 3, 1]));
        let tensor = field(1, &[vec![1 << 3, 1], shape].concat());
        [field(1, name.as_bytes()), field(2, &tensor)].concat()
    };
    let node = [field(1, b"x"), field(1, b"s"), field(2, b"y"), field(4, b"Add")].concat();
    let graph =
        [field(1, &node), field(2, b"g"), field(11, &value("x")), field(11, &value("s")), field(12, &value("y"))];
    [vec![1 << 3, 8], field(7, &graph.concat()), field(8, &[2 << 3, 13])].concat()
}

/// One number of binary32 as an array of NumPy.
fn array(number: f32) -> Vec<u8> {
    let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header, &number.to_le_bytes()].concat()
}

#[test]
fn a_network_with_frozen_inputs_is_compared_with_the_same_tensors() {
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = scratch.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let net = file("net.onnx", &sum_of_two_inputs());
    let [half, other] = [("half.npy", 0.5), ("other.npy", 0.75)].map(|(name, number)| file(name, &array(number)));
    let freeze = |path: &Path| format!("s={}", text(path));
    let folder = scratch.path().join("net");
    let run = certkern(["import", "onnx", text(&net), "--freeze", &freeze(&half), "-o", text(&folder)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    // At x = 1/2 the output is 1.
    let property = b"(declare-const X_0 Real) (declare-const Y_0 Real) (assert (and (>= X_0 0) (<= X_0 1) (= Y_0 1)))";
    let (property, point) = (file("spec.vnnlib", property), file("point", b"((X_0 0.5))"));
    let bundle = scratch.path().join("bundle");
    let run = certkern(["witness", text(&folder), text(&property), text(&point), "-o", text(&bundle)]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    let check = |more: &[&str]| certkern([&["check", text(&bundle)], more].concat());
    let same = check(&["--onnx", text(&net), "--freeze", &freeze(&half)]);
    assert!(
        same.last_line().starts_with("s ACCEPTED sat ") && same.stdout.contains("compared  model:"),
        "{}",
        same.stdout
    );
    check(&["--onnx", text(&net), "--freeze", &freeze(&other)]).expect(2, "s REJECTED bind.payload");
    check(&["--onnx", text(&net)]).expect(2, "s REJECTED bind.graph");
    check(&["--freeze", &freeze(&half)]).expect_usage("--freeze is about the network of --onnx");
}

#[test]
fn artifacts_of_torchlean_become_certificates() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("query");
    let query = "certs/torchlean/query.json";
    let run = certkern(["check", query]);
    assert_eq!((run.code, run.last_line()), (2, "s REJECTED graph.format"));
    assert!(
        run.stdout.contains("This is a crown_query_v1, not a certificate: `certkern import torchlean` makes one of it"),
        "{}",
        run.stdout
    );
    assert_eq!(certkern(["import", "torchlean", query, "--out", out.to_str().unwrap()]).code, 0);
    assert_eq!(certkern(["check", out.to_str().unwrap()]).code, 0);
    // One document, not a folder.
    let out = scratch.path().join("claim.json");
    let arguments = ["import", "torchlean", "certs/torchlean/monotonicity.json", "-o", out.to_str().unwrap()];
    assert_eq!(certkern(arguments).code, 0);
    assert!(certkern(["check", out.to_str().unwrap()]).last_line().starts_with("s ACCEPTED monotone "));
    let refused = certkern([
        "import",
        "torchlean",
        "certs/torchlean/leaves.json",
        "-o",
        scratch.path().join("x").to_str().unwrap(),
    ]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(
        refused.stderr.contains("lacks the network (--graph), the property, with the region (--property)"),
        "{}",
        refused.stderr
    );
}
