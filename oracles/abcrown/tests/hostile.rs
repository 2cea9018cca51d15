//! Damaged and foreign dumps: each ends with a message that names the file, the field and the way out, or at the kernel. What the kernel
//! accepts all the same it has proved itself.

use certkern_abcrown::{SourceNames, convert};
use certkern_claims::{Files, check_bundle};
use certkern_wire::Limits;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How an import and the check after it end.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The dump is refused by the converter with a message that contains all of these.
    Refused(&'static [&'static str]),
    /// The kernel answers with this line, which may be an acceptance.
    Line(&'static str),
}
use End::{Line, Refused};

const ACCEPTED: End = Line("s ACCEPTED unsat ");
const NO_MANIFEST: End = Refused(&["manifest.json: ", "write the dump again"]);
const CUT: End = Refused(&["tensors.safetensors: no safetensors file, or cut off", "write the dump again"]);
const OTHER_PROPERTY: &str = "use the property of the run";
const AGAIN: &str = "write the dump again";

type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

#[derive(Clone)]
struct Dump {
    manifest: Vec<u8>,
    tensors: Vec<u8>,
    onnx: Vec<u8>,
    property: Vec<u8>,
}

fn certs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../certs")
}

impl Dump {
    fn read(name: &str) -> Self {
        let read = |file: &str| std::fs::read(certs().join(name).join(file)).unwrap();
        Self {
            manifest: read("manifest.json"),
            tensors: read("tensors.safetensors"),
            onnx: read("net.onnx"),
            property: read("property.vnnlib"),
        }
    }

    /// Changes what is at this pointer into the manifest.
    fn json(&mut self, pointer: &str, edit: impl FnOnce(&mut Value)) {
        let mut manifest: Value = serde_json::from_slice(&self.manifest).unwrap();
        edit(manifest.pointer_mut(pointer).unwrap());
        self.manifest = manifest.to_string().into_bytes();
    }

    fn text(&mut self, from: &str, to: &str) {
        let text = String::from_utf8(self.manifest.clone()).unwrap();
        assert!(text.contains(from), "{from}");
        self.manifest = text.replacen(from, to, 1).into_bytes();
    }

    fn all(&self) -> Vec<Tensor> {
        let tensors = SafeTensors::deserialize(&self.tensors).unwrap();
        let views = tensors.iter();
        views.map(|(name, view)| (name.to_owned(), view.dtype(), view.shape().to_vec(), view.data().to_vec())).collect()
    }

    /// Writes all tensors again, one of them changed or left out.
    fn tensor(&mut self, name: &str, edit: impl Fn(Tensor) -> Option<Tensor>) {
        let all = self.all();
        assert!(all.iter().any(|tensor| tensor.0 == name), "{name}");
        let all: Vec<Tensor> =
            all.into_iter().filter_map(|tensor| if tensor.0 == name { edit(tensor) } else { Some(tensor) }).collect();
        let views =
            all.iter().map(|(name, dtype, shape, data)| (name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
        self.tensors = safetensors::serialize(views, None).unwrap();
    }

    fn without(&mut self, name: &str) {
        self.tensor(name, |_| None);
    }

    /// The first element of a tensor of 32-bit elements becomes this one.
    fn first(&mut self, name: &str, bytes: [u8; 4]) {
        self.tensor(name, |mut tensor| {
            tensor.3[..4].copy_from_slice(&bytes);
            Some(tensor)
        });
    }

    fn float(&mut self, name: &str, value: f32) {
        self.first(name, value.to_le_bytes());
    }

    /// The same elements in another type.
    fn retyped(&mut self, name: &str, dtype: Dtype, convert: impl Fn([u8; 4]) -> Vec<u8>) {
        self.tensor(name, |(name, _, shape, data)| {
            let data = data.as_chunks::<4>().0.iter().flat_map(|bytes| convert(*bytes)).collect();
            Some((name, dtype, shape, data))
        });
    }

    fn shaped(&mut self, name: &str, shape: &[usize]) {
        self.tensor(name, |(name, dtype, _, data)| Some((name, dtype, shape.to_vec(), data)));
    }

    /// The bytes that a writer leaves that takes the memory of an array by columns for one by rows.
    fn by_columns(&mut self, name: &str) {
        self.tensor(name, |(name, dtype, shape, data)| {
            let elements = data.as_chunks::<4>().0;
            let mut by_columns = Vec::with_capacity(data.len());
            for place in 0..elements.len() {
                // The first axis runs fastest in memory.
                let (mut rest, mut row_major, mut stride) = (place, 0, elements.len());
                for size in &shape {
                    stride /= size;
                    row_major += rest % size * stride;
                    rest /= size;
                }
                by_columns.extend(elements[row_major]);
            }
            Some((name, dtype, shape, by_columns))
        });
    }

    /// The kernel's line, or the converter's message.
    fn end(&self) -> Result<String, String> {
        let name = |name: &str| name.to_owned();
        let names = SourceNames {
            onnx: name("net.onnx"),
            property: name("property.vnnlib"),
            manifest: name("manifest.json"),
            tensors: name("tensors.safetensors"),
        };
        let bundle = convert(&self.manifest, &self.tensors, &self.onnx, &self.property, &names)
            .map_err(|error| error.to_string())?;
        let files: Files<'_> = bundle.files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        Ok(check_bundle(&files, &Limits::default(), &()).line())
    }

    /// What is wrong with how this dump ends, if it does not end so.
    fn unlike(&self, wanted: End) -> Option<String> {
        let found = self.end();
        match (&found, wanted) {
            (Err(text), Refused(parts)) if parts.iter().all(|part| text.contains(part)) => None,
            (Ok(line), Line(start)) if line.starts_with(start) => None,
            _ => Some(format!("{found:?}, not {wanted:?}")),
        }
    }
}

const SMALL: &str = "dumps/small_relu";
const BOXES: &str = "dumps/control_boxsplit";
const DIGITS: &str = "dumps/digits_relusplit";
/// Its manifest says how long the tensor file is and what its digest is.
const LIVE: &str = "live/digits_root";
const SLOPES: &str = "leaf_alpha//10";

/// What is done to a dump, the dump, how, and what comes of it.
type Case = (&'static str, &'static str, fn(&mut Dump), End);

#[rustfmt::skip]
const TABLE: &[Case] = &[
    ("nothing", SMALL, |_| (), ACCEPTED),
    ("nothing", BOXES, |_| (), ACCEPTED),
    ("nothing", LIVE, |_| (), ACCEPTED),
    // The manifest as a text.
    ("empty manifest", SMALL, |d| d.manifest.clear(), NO_MANIFEST),
    ("manifest cut off after a third", SMALL, |d| d.manifest.truncate(500), NO_MANIFEST),
    ("manifest cut off inside the leaves", SMALL, |d| d.manifest.truncate(1400), NO_MANIFEST),
    ("manifest cut off before the last brace", SMALL, |d| d.manifest.truncate(1539), NO_MANIFEST),
    ("a second document", SMALL, |d| d.manifest.extend(b"{}"), Refused(&["manifest.json: trailing characters", AGAIN])),
    ("bytes that are no text", SMALL, |d| d.manifest[20] = 0xff, NO_MANIFEST),
    ("a list", SMALL, |d| d.manifest = b"[]".to_vec(), NO_MANIFEST),
    ("lists in lists", SMALL, |d| d.text("\"inf\"", &["[".repeat(100_000), "]".repeat(100_000)].concat()),
        Refused(&["manifest.json: recursion limit", AGAIN])),
    ("a number that no float holds", SMALL, |d| d.text("\"lb\": [0.0]", "\"lb\": [1e999]"),
        Refused(&["manifest.json: number out of range", AGAIN])),
    ("no format", SMALL, |d| d.text("\"format\"", "\"Format\""), Refused(&["manifest.json: missing field `format`", AGAIN])),
    ("a later format", SMALL, |d| d.text("abdump-0", "abdump-1"),
        Refused(&["manifest.json: format is \"abdump-1\"", "this converter reads \"abdump-0\"", AGAIN])),
    ("a format that is a number", SMALL, |d| d.text("\"abdump-0\"", "0"), Refused(&["manifest.json: format is 0", AGAIN])),
    ("no nodes", SMALL, |d| d.text("\"nodes\"", "\"Nodes\""), Refused(&["manifest.json: missing field `nodes`", AGAIN])),
    ("no final name", SMALL, |d| d.text("\"final_name\"", "\"last\""),
        Refused(&["manifest.json: missing field `final_name`", AGAIN])),
    // What it says of the network.
    ("a ball of norm 2", SMALL, |d| d.json("/norm", |norm| *norm = json!(2)),
        Refused(&["manifest.json: norm is 2", "specification.norm: .inf"])),
    ("a sine", SMALL, |d| d.json("/root_alpha/0/type", |kind| *kind = json!("BoundSin")),
        Refused(&["manifest.json: node /10 is a BoundSin", "only ReLU, sigmoid and tanh"])),
    ("a node of another size", SMALL, |d| d.json("/nodes/5/shape", |shape| *shape = json!([1, 5])),
        Refused(&["manifest.json: node /input holds 5 numbers", "use the ONNX file of the run"])),
    ("the network of another run", SMALL, |d| d.onnx = Dump::read(BOXES).onnx,
        Refused(&["manifest.json: node /0 holds 2 numbers, node 0 of the graph 5", "use the ONNX file of the run"])),
    ("network and property of another run", SMALL, |d| {
        let other = Dump::read(BOXES);
        (d.onnx, d.property) = (other.onnx, other.property);
    }, Refused(&["manifest.json: ", "use the ONNX file of the run"])),
    ("the property of another run", DIGITS, |d| d.property = Dump::read(LIVE).property,
        Refused(&["tensors.safetensors: the lower end of x[2] is 0.5675 in the dump", OTHER_PROPERTY])),
    ("no ONNX file", SMALL, |d| d.onnx = b"no network".to_vec(), Refused(&["the ONNX file was not imported: "])),
    ("no property", SMALL, |d| d.property.clear(), Refused(&["the property was refused: "])),
    // Leaves.
    ("a leaf left out", SMALL, |d| d.json("/leaves", |leaves| drop(leaves.as_array_mut().unwrap().pop())),
        Refused(&["manifest.json: disjunct 0: ", "no leaf covers /input[0] ≤ 0", "dump every leaf"])),
    ("all leaves left out", SMALL, |d| d.json("/leaves", |leaves| *leaves = json!([])),
        Refused(&["manifest.json: disjunct 0 (Y_0 ≤ -0.5) has no leaves", "dump every leaf"])),
    ("a leaf twice", SMALL, |d| d.json("/leaves", |leaves| leaves[1] = leaves[0].clone()),
        Refused(&["manifest.json: leaves[1] has the id 0, which stands twice", AGAIN])),
    ("a leaf twice, with tensors of its own", SMALL, |d| {
        d.json("/leaves", |leaves| {
            let mut again = leaves[1].clone();
            again["id"] = json!(2);
            leaves.as_array_mut().unwrap().push(again);
        });
        for name in ["leaf/C", SLOPES] {
            d.tensor(name, |(name, dtype, mut shape, mut data)| {
                let row = data.len() / shape[0];
                data.extend_from_within(row..2 * row);
                shape[0] = 3;
                Some((name, dtype, shape, data))
            });
        }
    }, Refused(&["manifest.json: disjunct 0: under /input[0] ≤ 0 leaf 1 covers everything, leaf 2 too", "dump every leaf"])),
    ("a leaf beyond the tensors", SMALL, |d| d.json("/leaves/1/id", |id| *id = json!(2)),
        Refused(&["manifest.json: leaves[1] has the id 2", "the rows of leaf/C", AGAIN])),
    ("a negative id", SMALL, |d| d.json("/leaves/1/id", |id| *id = json!(-1)), NO_MANIFEST),
    ("a neuron split twice", SMALL, |d| d.json("/leaves/0/splits", |splits| {
        let split = splits[0].clone();
        splits.as_array_mut().unwrap().push(split);
    }), Refused(&["manifest.json: leaf 0 decides a neuron twice"])),
    ("a neuron that is none", SMALL, |d| d.json("/leaves/0/splits/0/neuron", |neuron| *neuron = json!(4)),
        Refused(&["manifest.json: a split of leaf 0 names \"/input[4]\"", AGAIN])),
    ("the largest neuron there is", SMALL, |d| d.json("/leaves/0/splits/0/neuron", |neuron| *neuron = json!(u64::MAX)),
        Refused(&["manifest.json: a split of leaf 0 names", AGAIN])),
    ("sign 0", SMALL, |d| d.json("/leaves/0/splits/0/sign", |sign| *sign = json!(0)),
        Refused(&["manifest.json: leaf 0 splits /input[0] with sign 0", AGAIN])),
    ("point NaN", SMALL, |d| d.text("\"point\": 0.0", "\"point\": NaN"),
        Refused(&["manifest.json: leaf 0 splits /input[0] at NaN", AGAIN])),
    ("point infinity", SMALL, |d| d.text("\"point\": 0.0", "\"point\": -Infinity"),
        Refused(&["manifest.json: leaf 0 splits /input[0] at -inf", AGAIN])),
    ("point moved", SMALL, |d| d.text("\"point\": 0.0", "\"point\": 0.25"),
        Refused(&["manifest.json: disjunct 0: ", "/input[0] ≥ 0.25", AGAIN])),
    ("multiplier NaN", SMALL, |d| d.text("\"beta\": 1.0", "\"beta\": NaN"), Line("s REJECTED hint.domain")),
    ("multiplier infinity", SMALL, |d| d.text("\"beta\": 1.0", "\"beta\": Infinity"), Line("s REJECTED hint.domain")),
    ("multiplier below 0", SMALL, |d| d.text("\"beta\": 1.0", "\"beta\": -1.0"), Line("s REJECTED hint.domain")),
    ("multiplier lost", SMALL, |d| d.text("\"beta\": 1.0", "\"beta\": 0.0"), Line("s REJECTED leaf.unproved")),
    ("two bounds for one row", SMALL, |d| d.text("\"lb\": [0.0]", "\"lb\": [0.0, 0.0]"),
        Refused(&["manifest.json: leaf 0 has 2 numbers in lb for 1 rows", AGAIN])),
    ("no right-hand side", SMALL, |d| d.text("\"rhs\": [-0.5]", "\"rhs\": []"),
        Refused(&["manifest.json: leaf 0 has 0 numbers in rhs for 1 rows", AGAIN])),
    ("right-hand side NaN", SMALL, |d| d.text("\"rhs\": [-0.5]", "\"rhs\": [NaN]"),
        Refused(&["tensors.safetensors: leaf 0 of leaf/C speaks of Y_0 ≤ NaN", OTHER_PROPERTY])),
    // Claimed bounds choose the row and nothing else.
    ("bound NaN", SMALL, |d| d.text("\"lb\": [0.0]", "\"lb\": [NaN]"), ACCEPTED),
    // The tensor file as a whole.
    ("empty tensors", SMALL, |d| d.tensors.clear(), CUT),
    ("tensors cut off inside the length", SMALL, |d| d.tensors.truncate(5), CUT),
    ("tensors cut off after the length", SMALL, |d| d.tensors.truncate(8), CUT),
    ("tensors cut off inside the header", SMALL, |d| d.tensors.truncate(400), CUT),
    ("tensors cut off inside the numbers", SMALL, |d| d.tensors.truncate(d.tensors.len() - 100), CUT),
    ("tensors without the last byte", SMALL, |d| d.tensors.truncate(1533), CUT),
    ("a byte more", SMALL, |d| d.tensors.push(0), CUT),
    ("a header of 2^63 bytes", SMALL, |d| d.tensors[7] = 0x80, CUT),
    ("no header", SMALL, |d| d.tensors[8] = b'[', CUT),
    ("tensors of another run, of another length", LIVE, |d| d.tensors = Dump::read(SMALL).tensors,
        Refused(&["tensors.safetensors: ", "bytes where manifest.json says", AGAIN])),
    ("tensors of the right length with another number", LIVE, |d| *d.tensors.last_mut().unwrap() ^= 1,
        Refused(&["tensors.safetensors: not the file that manifest.json was written with", "copy both files"])),
    ("tensors of another run, where the manifest says nothing", SMALL, |d| d.tensors = Dump::read(BOXES).tensors,
        Refused(&["tensors.safetensors: tensor spec/x_L has shape [1, 1, 1, 5], not 2 elements", AGAIN])),
    // Arrays by columns.
    ("boxes by columns", BOXES, |d| d.by_columns("box/x_L"), Refused(&["tensors.safetensors: ", "box"])),
    ("rows of leaves by columns", DIGITS, |d| d.by_columns("leaf/C"),
        Refused(&["tensors.safetensors: leaf 0 of leaf/C speaks of", OTHER_PROPERTY])),
    ("slopes of leaves by columns", DIGITS, |d| d.by_columns("leaf_alpha//44"), Line("s REJECTED leaf.unproved")),
    ("slopes of leaves with the shape turned", SMALL, |d| d.shaped(SLOPES, &[3, 1, 2]),
        Refused(&["tensors.safetensors: tensor leaf_alpha//10 has shape [3, 1, 2], not [2, 1, 3]", AGAIN])),
    // NaN and infinity.
    ("NaN in the region", SMALL, |d| d.float("spec/x_L", f32::NAN),
        Refused(&["tensors.safetensors: the lower end of x[0] is NaN in the dump", OTHER_PROPERTY])),
    ("infinity in the region", SMALL, |d| d.float("spec/x_U", f32::INFINITY),
        Refused(&["tensors.safetensors: the upper end of x[0] is inf in the dump", OTHER_PROPERTY])),
    ("NaN in the rows", SMALL, |d| d.float("spec/C", f32::NAN),
        Refused(&["tensors.safetensors: disjunct 0 of spec/C speaks of NaN·Y_0", OTHER_PROPERTY])),
    ("infinite right-hand side", SMALL, |d| d.float("spec/rhs", f32::NEG_INFINITY),
        Refused(&["tensors.safetensors: disjunct 0 of spec/C speaks of Y_0 ≤ -inf", OTHER_PROPERTY])),
    ("NaN in the rows of leaves", SMALL, |d| d.float("leaf/C", f32::NAN),
        Refused(&["tensors.safetensors: leaf 0 of leaf/C speaks of", OTHER_PROPERTY])),
    ("slope NaN", SMALL, |d| d.float(SLOPES, f32::NAN), Line("s REJECTED hint.domain")),
    ("slope infinity", SMALL, |d| d.float(SLOPES, f32::INFINITY),
        Refused(&["tensors.safetensors: slope inf at place 0 of leaf_alpha//10 is outside [0, 1]", AGAIN])),
    ("slope below 0", SMALL, |d| d.float(SLOPES, -0.5),
        Refused(&["tensors.safetensors: slope -0.5 at place 0 of leaf_alpha//10", AGAIN])),
    ("root slope 2", SMALL, |d| d.float("best_alpha//10//11/val", 2.0),
        Refused(&["tensors.safetensors: slope 2 at place 0 of best_alpha//10//11/val", AGAIN])),
    // Claimed bounds of neurons choose default slopes and nothing else.
    ("root bound NaN", SMALL, |d| d.float("root/interm//input/l", f32::NAN), ACCEPTED),
    ("root bound of the output NaN, without leaves", LIVE, |d| {
        d.json("/tensors_bytes", |bytes| *bytes = Value::Null);
        d.json("/tensors_sha256", |digest| *digest = Value::Null);
        d.float("root/lb", f32::NAN);
    }, Refused(&["manifest.json: disjunct 0 ", "has no leaves, and its root bound misses by NaN", "dump every leaf"])),
    ("a corner of a box NaN", BOXES, |d| d.float("box/x_L", f32::NAN),
        Refused(&["tensors.safetensors: disjunct 0: box 0: x[0] in [NaN, ", "dump the boxes as the run held them"])),
    ("a corner of a box infinite", BOXES, |d| d.float("box/x_U", f32::INFINITY),
        Refused(&["tensors.safetensors: disjunct 0: box 0: x[0] in [", "inf]", "dump the boxes as the run held them"])),
    // Types.
    ("slopes in float16", SMALL, |d| d.retyped(SLOPES, Dtype::F16, |_| vec![0, 0x38]),
        Refused(&["tensors.safetensors: tensor leaf_alpha//10 is of type F16, not F32", AGAIN])),
    ("slopes in bfloat16", SMALL, |d| d.retyped(SLOPES, Dtype::BF16, |b| b[2..].to_vec()),
        Refused(&["tensors.safetensors: tensor leaf_alpha//10 is of type BF16, not F32", AGAIN])),
    ("slopes in float64", SMALL, |d| d.retyped(SLOPES, Dtype::F64, |b| f64::from(f32::from_le_bytes(b)).to_le_bytes().to_vec()),
        Refused(&["tensors.safetensors: tensor leaf_alpha//10 is of type F64, not F32", AGAIN])),
    ("rows as integers", SMALL, |d| d.retyped("spec/C", Dtype::I32, |b| b.to_vec()),
        Refused(&["tensors.safetensors: tensor spec/C is of type I32, not F32", AGAIN])),
    ("columns as floats", SMALL, |d| d.retyped("leaf_alpha_cols//10", Dtype::F32, |b| b.to_vec()),
        Refused(&["tensors.safetensors: tensor leaf_alpha_cols//10 is of type F32, not I32", AGAIN])),
    ("sizes as bytes", SMALL, |d| d.retyped("spec/or_spec_size", Dtype::U8, |b| b[..1].to_vec()),
        Refused(&["tensors.safetensors: tensor spec/or_spec_size is of type U8, not I32", AGAIN])),
    ("columns as long integers", SMALL, |d| d.retyped("leaf_alpha_cols//10", Dtype::I64,
        |b| i64::from(i32::from_le_bytes(b)).to_le_bytes().to_vec()), ACCEPTED),
    // Indices and sizes.
    ("a negative column", SMALL, |d| d.first("leaf_alpha_cols//10", (-1_i32).to_le_bytes()),
        Refused(&["tensors.safetensors: index -1 at place 0 of tensor leaf_alpha_cols//10", AGAIN])),
    ("a column that is no neuron", SMALL, |d| d.first("best_alpha//10//11/cols", 4_i32.to_le_bytes()),
        Refused(&["tensors.safetensors: index 4 at place 0 of tensor best_alpha//10//11/cols", AGAIN])),
    ("a disjunct of no rows", SMALL, |d| d.first("spec/or_spec_size", 0_i32.to_le_bytes()),
        Refused(&["tensors.safetensors: tensor spec/or_spec_size", "positive sizes", AGAIN])),
    ("a disjunct of -1 rows", SMALL, |d| d.first("spec/or_spec_size", (-1_i32).to_le_bytes()),
        Refused(&["tensors.safetensors: tensor spec/or_spec_size", "positive sizes", AGAIN])),
    ("boxes without inputs", BOXES, |d| d.tensor("box/x_L", |(name, dtype, ..)| Some((name, dtype, vec![1 << 40, 0], Vec::new()))),
        Refused(&["manifest.json: disjunct 0 ", "has no leaves", "dump every leaf"])),
    ("leaves without rows", SMALL, |d| d.tensor("leaf/C", |(name, dtype, ..)| Some((name, dtype, vec![1 << 40, 0, 1], Vec::new()))),
        Refused(&["manifest.json: leaf 0 has 1 numbers in lb for 0 rows", AGAIN])),
    // Tensors left out.
    ("no rows", SMALL, |d| d.without("spec/C"), Refused(&["tensors.safetensors: tensor spec/C is absent", AGAIN])),
    ("no right-hand sides", SMALL, |d| d.without("spec/rhs"), Refused(&["tensors.safetensors: tensor spec/rhs is absent", AGAIN])),
    ("no sizes", SMALL, |d| d.without("spec/or_spec_size"),
        Refused(&["tensors.safetensors: tensor spec/or_spec_size is absent", AGAIN])),
    ("no region", SMALL, |d| d.without("spec/x_U"), Refused(&["tensors.safetensors: tensor spec/x_U is absent", AGAIN])),
    ("no rows of leaves", SMALL, |d| d.without("leaf/C"), Refused(&["tensors.safetensors: tensor leaf/C is absent", AGAIN])),
    ("no rows of root slopes", SMALL, |d| d.without("best_alpha//10//11/rows"),
        Refused(&["tensors.safetensors: tensor best_alpha//10//11/rows is absent", AGAIN])),
    ("no upper corners", BOXES, |d| d.without("box/x_U"), Refused(&["tensors.safetensors: tensor box/x_U is absent", AGAIN])),
    ("no bounds of boxes", BOXES, |d| d.without("box/lb"), Refused(&["tensors.safetensors: tensor box/lb is absent", AGAIN])),
    // A leaf without slopes of its own has the default ones, which do not do here.
    ("no slopes of leaves", SMALL, |d| d.without(SLOPES), Line("s REJECTED leaf.unproved")),
];

#[test]
fn every_hostile_dump_ends_as_the_table_says() {
    let failed: Vec<String> = TABLE
        .iter()
        .filter_map(|(what, base, edit, wanted)| {
            let mut dump = Dump::read(base);
            edit(&mut dump);
            dump.unlike(*wanted).map(|found| format!("{what} ({base}): {found}"))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), TABLE.len(), failed.join("\n"));
}

/// A dump of a claim that is false: the network does reach outputs of at most 1/2.
fn false_claim() -> Dump {
    let mut dump = Dump::read(SMALL);
    let text = String::from_utf8(dump.property).unwrap();
    dump.property = text.replace("(<= Y_0 -0.5)", "(<= Y_0 0.5)").into_bytes();
    dump.float("spec/rhs", 0.5);
    for leaf in ["/leaves/0", "/leaves/1"] {
        dump.json(leaf, |leaf| {
            leaf["rhs"] = json!([0.5]);
            leaf["lb"] = json!([9.0]);
        });
    }
    dump
}

/// No single byte that is wrong makes the converter panic, and none makes the kernel accept what is false.
#[test]
fn a_false_claim_is_not_accepted_whatever_byte_is_changed() {
    let dump = false_claim();
    assert_eq!(dump.end(), Ok("s REJECTED leaf.unproved".to_owned()));
    let mut checked = 0;
    for manifest in [true, false] {
        let length = if manifest { dump.manifest.len() } else { dump.tensors.len() };
        for place in 0..length {
            for mask in [1, 0x10, 0x80, 0xff] {
                let mut damaged = dump.clone();
                let bytes = if manifest { &mut damaged.manifest } else { &mut damaged.tensors };
                bytes[place] ^= mask;
                if let Ok(line) = damaged.end() {
                    assert!(
                        !line.starts_with("s ACCEPTED"),
                        "byte {place} of the manifest ({manifest}), mask {mask}: {line}"
                    );
                    checked += 1;
                }
            }
        }
    }
    // Enough of them get as far as the kernel.
    assert!(checked > 500, "{checked}");
}

#[test]
fn a_true_claim_cut_off_anywhere_is_refused() {
    let dump = Dump::read(SMALL);
    for end in 0..dump.manifest.len() {
        let cut = Dump { manifest: dump.manifest[..end].to_vec(), ..dump.clone() };
        assert!(cut.unlike(NO_MANIFEST).is_none(), "{end}: {:?}", cut.unlike(NO_MANIFEST));
    }
    for end in 0..dump.tensors.len() {
        let cut = Dump { tensors: dump.tensors[..end].to_vec(), ..dump.clone() };
        assert!(cut.unlike(CUT).is_none(), "{end}: {:?}", cut.unlike(CUT));
    }
}
