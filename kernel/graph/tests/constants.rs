//! Numbers of every spelling: what picks from constants and what refuses them does so by value.

use certkern_core::num::Rational;
use certkern_graph::Graph;
use certkern_wire::tensors::Source;
use certkern_wire::{Limits, Rejection};

fn read(nodes: &str, output: usize, payload: Option<&[u8]>) -> Result<Graph, Rejection> {
    let payload = payload.as_ref().map(|bytes| bytes as &dyn Source);
    let document = format!(r#"{{"format":"certkern.ir.v1","input_id":0,"output_ids":[{output}],"nodes":[{nodes}]}}"#);
    Graph::read(document.as_bytes(), payload, &Limits::default())
}

/// A safetensors file of one tensor of binary32 numbers.
fn file(name: &str, shape: &[usize], values: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[0,{}]}}}}"#, data.len());
    let header = format!("{header:width$}", width = header.len().next_multiple_of(8));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

fn q(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator.into(), denominator.into())
}

/// `x₀·c₂` and `x₁·c₀` at `x = (3, 5)`.
fn picked(values: &str, payload: Option<&[u8]>) -> Vec<Rational> {
    let nodes = format!(
        r#"{{"id":0,"kind":"input","parents":[],"shape":[2]}},{{"id":1,"kind":"const","parents":[],"shape":[3]{values}}},
        {{"id":2,"kind":"gather","parents":[1],"shape":[2],"axis":0,"indices":[2,0]}},
        {{"id":3,"kind":"detach","parents":[2],"shape":[2]}},{{"id":4,"kind":"mul_elem","parents":[0,3],"shape":[2]}}"#
    );
    let graph = read(&nodes, 4, payload).unwrap_or_else(|fault| panic!("{fault:?}"));
    graph.lower().unwrap().program.evaluate(&[q(3, 1), q(5, 1)]).unwrap()
}

#[test]
fn constants_are_picked_by_value() {
    assert_eq!(picked(r#","values":["1/3","7","-0.1"]"#, None), [q(-3, 10), q(5, 3)]);
    assert_eq!(picked(r#","values":[0.5,7,-0.25]"#, None), [q(-3, 4), q(5, 2)]);
    // The binary32 number nearest to 0.1 is 13421773/2^27.
    let payload = file("1.values", &[3], &[0.5, 7.0, 0.1]);
    assert_eq!(picked("", Some(&payload)), [q(3 * 13_421_773, 1 << 27), q(5, 2)]);
}

/// A convolution of two groups, one channel each; two of the four numbers would join them.
fn grouped(weight: &str, payload: Option<&[u8]>) -> Vec<(String, String)> {
    let nodes = format!(
        r#"{{"id":0,"kind":"input","parents":[],"shape":[2,1]}},{{"id":1,"kind":"conv","parents":[0],"shape":[2,1],"spatial_rank":1,
        "kernel":[1],"stride":[1],"padding":[0],"dilation":[1],"groups":2,"channel_axis":0,"in_channels":2,"out_channels":2,
        "bias":[0,0]{weight}}}"#
    );
    let rejection = read(&nodes, 1, payload).err();
    let faults = rejection.iter().flat_map(Rejection::faults);
    faults.map(|fault| (fault.reason.code(), fault.place.path.clone())).collect()
}

#[test]
fn weights_between_groups_are_zero_in_every_spelling() {
    let refused = [("graph.payload".to_owned(), "nodes[1].weight".to_owned())];
    for (zero, other) in [(r#""0""#, r#""1/7""#), ("-0.0", "1e-300")] {
        let weight = |between: &str| {
            let [own, zero] = if zero.starts_with('"') { [r#""1/3""#, r#""0/5""#] } else { ["2", "0"] };
            format!(r#","weight":[[[{own}],[{zero}]],[[{between}],[{own}]]]"#)
        };
        assert_eq!(grouped(&weight(zero), None), []);
        assert_eq!(grouped(&weight(other), None), refused);
    }
    let weight = |between: f32| file("1.weight", &[2, 2, 1], &[2.0, 0.0, between, 3.0]);
    assert_eq!(grouped("", Some(&weight(-0.0))), []);
    assert_eq!(grouped("", Some(&weight(f32::from_bits(1)))), refused);
}
