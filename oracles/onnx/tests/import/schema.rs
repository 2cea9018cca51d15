//! The declared fields against the ONNX schema (onnx.proto of onnx 1.23): a field that is not declared would be skipped in
//! silence.

use certkern_onnx::{ImportError, import, proto};
use prost::Message;

/// What to write as the value of a field.
#[derive(Clone, Copy)]
enum Kind {
    /// The varint 1.
    V,
    /// Four bytes.
    F,
    /// A string, bytes or a message without content.
    L,
    /// A packed list of one number of this many bytes.
    P(usize),
}
use Kind::{F, L, P, V};

/// Message, and number and kind of each of its fields.
const SCHEMA: &[(&str, &[(u32, Kind)])] = &[
    (
        "ModelProto",
        &[(1, V), (2, L), (3, L), (4, L), (5, V), (6, L), (7, L), (8, L), (14, L), (20, L), (25, L), (26, L)],
    ),
    ("GraphProto", &[(1, L), (2, L), (5, L), (10, L), (11, L), (12, L), (13, L), (14, L), (15, L), (16, L)]),
    ("NodeProto", &[(1, L), (2, L), (3, L), (4, L), (5, L), (6, L), (7, L), (8, L), (9, L), (10, L)]),
    (
        "AttributeProto",
        &[
            (1, L),
            (2, F),
            (3, V),
            (4, L),
            (5, L),
            (6, L),
            (7, F),
            (8, V),
            (9, L),
            (10, L),
            (11, L),
            (13, L),
            (14, L),
            (15, L),
            (20, V),
            (21, L),
            (22, L),
            (23, L),
        ],
    ),
    (
        "TensorProto",
        &[
            (1, V),
            (2, V),
            (3, L),
            (4, P(4)),
            (5, P(1)),
            (6, L),
            (7, P(1)),
            (8, L),
            (9, L),
            (10, P(8)),
            (11, P(1)),
            (12, L),
            (13, L),
            (14, V),
            (16, L),
        ],
    ),
    ("Segment", &[(1, V), (2, V)]),
    ("StringStringEntryProto", &[(1, L), (2, L)]),
    ("TypeProto", &[(1, L), (4, L), (5, L), (6, L), (7, L), (8, L), (9, L)]),
    ("TensorType", &[(1, V), (2, L)]),
    ("TensorShapeProto", &[(1, L)]),
    ("Dimension", &[(1, V), (2, L), (3, L)]),
    ("SequenceType", &[(1, L)]),
    ("MapType", &[(1, V), (2, L)]),
    ("OpaqueType", &[(1, L), (2, L)]),
    ("SparseTensorType", &[(1, V), (2, L)]),
    ("OptionalType", &[(1, L)]),
    ("SparseTensorProto", &[(1, L), (2, L), (3, V)]),
    ("NodeDeviceConfigurationProto", &[(1, L), (2, L), (3, V)]),
    ("ShardingSpecProto", &[(1, L), (2, V), (3, L), (4, L)]),
    ("IntIntListEntryProto", &[(1, V), (2, V)]),
    ("ShardedDimProto", &[(1, V), (2, L)]),
    ("SimpleShardedDimProto", &[(1, V), (2, L), (3, V)]),
    ("ValueInfoProto", &[(1, L), (2, L), (3, L), (4, L)]),
    ("TensorAnnotation", &[(1, L), (2, L)]),
    ("OperatorSetIdProto", &[(1, L), (2, V)]),
    ("TrainingInfoProto", &[(1, L), (2, L), (3, L), (4, L)]),
    (
        "FunctionProto",
        &[(1, L), (4, L), (5, L), (6, L), (7, L), (8, L), (9, L), (10, L), (11, L), (12, L), (13, L), (14, L)],
    ),
    ("DeviceConfigurationProto", &[(1, L), (2, V), (3, L)]),
];

fn fields_of(message: &str) -> &'static [(u32, Kind)] {
    SCHEMA.iter().find(|(name, _)| *name == message).expect("in the table").1
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn field(number: u32, kind: Kind) -> Vec<u8> {
    let (wire_type, value) = match kind {
        V => (0, vec![1]),
        F => (5, vec![0, 0, 0x80, 0x3f]),
        L => (2, vec![0]),
        P(size) => (2, [vec![size as u8], vec![1; size]].concat()),
    };
    [varint(u64::from(number) << 3 | wire_type), value].concat()
}

/// The field with a message as its value.
fn wrap(number: u32, content: &[u8]) -> Vec<u8> {
    [varint(u64::from(number) << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// Every number from 1 to 50: decoded and encoded again it is what it was if the schema has it, and vanishes otherwise.
fn check<M: Message + Default>(name: &str) {
    let fields = fields_of(name);
    for number in 1..=50 {
        let known = fields.iter().find(|(known, _)| *known == number);
        let bytes = field(number, known.map_or(V, |(_, kind)| *kind));
        let again = M::decode(bytes.as_slice()).expect("well formed").encode_to_vec();
        assert_eq!(again, if known.is_some() { bytes } else { Vec::new() }, "{name} {number}");
    }
}

#[test]
fn every_field_of_the_schema_is_declared() {
    check::<proto::ModelProto>("ModelProto");
    check::<proto::GraphProto>("GraphProto");
    check::<proto::NodeProto>("NodeProto");
    check::<proto::AttributeProto>("AttributeProto");
    check::<proto::TensorProto>("TensorProto");
    check::<proto::Segment>("Segment");
    check::<proto::StringStringEntryProto>("StringStringEntryProto");
    check::<proto::TypeProto>("TypeProto");
    check::<proto::TensorType>("TensorType");
    check::<proto::TensorShapeProto>("TensorShapeProto");
    check::<proto::Dimension>("Dimension");
    check::<proto::SequenceType>("SequenceType");
    check::<proto::MapType>("MapType");
    check::<proto::OpaqueType>("OpaqueType");
    check::<proto::SparseTensorType>("SparseTensorType");
    check::<proto::OptionalType>("OptionalType");
    check::<proto::SparseTensorProto>("SparseTensorProto");
    check::<proto::NodeDeviceConfigurationProto>("NodeDeviceConfigurationProto");
    check::<proto::ShardingSpecProto>("ShardingSpecProto");
    check::<proto::IntIntListEntryProto>("IntIntListEntryProto");
    check::<proto::ShardedDimProto>("ShardedDimProto");
    check::<proto::SimpleShardedDimProto>("SimpleShardedDimProto");
    check::<proto::ValueInfoProto>("ValueInfoProto");
    check::<proto::TensorAnnotation>("TensorAnnotation");
    check::<proto::OperatorSetIdProto>("OperatorSetIdProto");
    check::<proto::TrainingInfoProto>("TrainingInfoProto");
    check::<proto::FunctionProto>("FunctionProto");
    check::<proto::DeviceConfigurationProto>("DeviceConfigurationProto");
    assert_eq!(SCHEMA.len(), 28);
}

/// The messages that the importer reads, and the path of field numbers to each.
const READ: &[(&str, &[u32])] = &[
    ("ModelProto", &[]),
    ("OperatorSetIdProto", &[8]),
    ("GraphProto", &[7]),
    ("NodeProto", &[7, 1]),
    ("AttributeProto", &[7, 1, 5]),
    ("TensorProto", &[7, 1, 5, 5]),
    ("TensorProto", &[7, 5]),
    ("ValueInfoProto", &[7, 11]),
    ("ValueInfoProto", &[7, 12]),
    ("TypeProto", &[7, 11, 2]),
    ("TensorType", &[7, 11, 2, 1]),
    ("TensorShapeProto", &[7, 12, 2, 1, 2]),
    ("Dimension", &[7, 12, 2, 1, 2, 1]),
];

#[test]
fn a_field_that_the_schema_does_not_have_is_refused_where_it_stands() {
    for (name, path) in READ {
        for number in (1..=50).chain([1000, 536_870_911]) {
            let known = fields_of(name).iter().find(|(known, _)| *known == number);
            let content = field(number, known.map_or(V, |(_, kind)| *kind));
            let bytes = path.iter().rev().fold(content, |content, number| wrap(*number, &content));
            let error = import(&bytes).expect_err("no complete model");
            let unknown = matches!(error, ImportError::UnknownField(_));
            assert_eq!(unknown, known.is_none(), "{name} {path:?} {number}: {error}");
            if unknown {
                assert!(error.to_string().contains(&format!("field number {number}")), "{error}");
            }
        }
    }
}

#[test]
fn a_field_that_may_stand_once_may_not_stand_twice() {
    let graph = wrap(7, &[]);
    let error = import(&[graph.clone(), graph].concat()).expect_err("two graphs");
    assert!(matches!(&error, ImportError::Field(fault) if fault.detail.contains("`graph`")), "{error}");
}
