//! Bytes that nobody wrote: never a panic, and whatever is accepted has a meaning that fits its shapes.

use certkern_graph::Graph;
use certkern_wire::Limits;

const DOCUMENT: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[9,3],"nodes":[
{"id":0,"kind":"input","parents":[],"shape":[1,2,4]},
{"id":1,"kind":"conv","parents":[0],"shape":[1,2,3],"spatial_rank":1,"kernel":[2],"stride":[1],"padding":[0],"dilation":[1],
"groups":1,"channel_axis":1,"in_channels":2,"out_channels":2,"weight":[[[1,2],[3,4]],[[5,6],[7,8]]],"bias":[1,2]},
{"id":2,"kind":"relu","parents":[1],"shape":[1,2,3]},
{"id":3,"kind":"permute","parents":[2],"shape":[3,1,2],"perm":[2,0,1]},
{"id":4,"kind":"transpose","parents":[3],"shape":[2,1,3],"axis1":0,"axis2":2},
{"id":5,"kind":"linear","parents":[4],"shape":[2,1,2],"weight":[[1,2,3],[4,5,6]],"bias":[7,8]},
{"id":6,"kind":"concat","parents":[5,5,5],"shape":[2,3,2],"axis":1},
{"id":7,"kind":"broadcast_to","parents":[6],"shape":[2,2,3,2],"from_shape":[2,3,2],"to_shape":[2,2,3,2]},
{"id":8,"kind":"reshape","parents":[7],"shape":[4,6]},
{"id":9,"kind":"sum","parents":[8],"shape":[]}]}"#;

/// The next of a fixed sequence of numbers below `bound` (Knuth's MMIX generator, high bits).
fn next(state: &mut u64, bound: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % bound
}

#[test]
fn what_is_accepted_can_be_lowered() {
    assert!(Graph::read(DOCUMENT.as_bytes(), None, &Limits::default()).is_ok());
    // A graph that survives is small enough to be lowered many times.
    let limits = Limits { graph_elements: 10_000, ..Limits::default() };
    let pieces: [&[u8]; 12] =
        [b"0", b"1", b"2", b"3", b"9", b",", b"[", b"]", b"-", b"\"", b"{", b"18446744073709551615"];
    let mut state = 1;
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..30_000 {
        let mut bytes = DOCUMENT.as_bytes().to_vec();
        for _ in 0..=next(&mut state, 3) {
            let at = next(&mut state, bytes.len());
            if bytes[at].is_ascii_digit() {
                bytes[at] = b'0' + u8::try_from(next(&mut state, 10)).unwrap();
            } else if round % 2 == 0 {
                let piece = pieces[next(&mut state, pieces.len())].iter().copied();
                let removed = next(&mut state, 3);
                bytes.splice(at..bytes.len().min(at + removed), piece);
            }
        }
        match Graph::read(&bytes, None, &limits) {
            Ok(graph) => {
                let lowered = graph.lower().unwrap();
                for (node, value) in graph.nodes().iter().zip(&lowered.values) {
                    assert_eq!(lowered.program.width(*value), node.width());
                }
                accepted += 1;
            }
            Err(rejection) => {
                assert_ne!(rejection.first().reason.code(), "internal", "{}", String::from_utf8_lossy(&bytes));
                refused += 1;
            }
        }
    }
    // Both happen, so both are tested.
    assert!(accepted > 300 && refused > 10_000, "{accepted} {refused}");
}
