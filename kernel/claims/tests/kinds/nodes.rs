//! Kind `nodes`: what is false at some point of the region is not accepted, whatever the hints; what is wider than the truth is.

use crate::support::{self, Array, GRAPH, Random, f64s, safetensors, u32s};
use certkern_claims::read_bounds;
use certkern_graph::Graph;
use certkern_report::Report;
use certkern_seal::Digests;
use certkern_wire::limits::Limits;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The graph of `support`: the coordinates of nodes 1, 2, 3 at `x`, in units of 1/64.
fn values(x: i64) -> [Vec<i64>; 3] {
    let (a, b) = (x - 16, -x);
    [vec![a, b], vec![a.max(0), b.max(0)], vec![a.max(0) - b.max(0)]]
}

/// Regions, and whether `x` (in units of 1/64) lies in them.
type Region = (&'static str, fn(i64) -> bool);
const REGIONS: [Region; 4] = [
    (r#"{"lo":[-1],"hi":[1]}"#, |x| x.abs() <= 64),
    (r#"{"ball":"l2","center":["1/8"],"radius":0.75}"#, |x| (x - 8).abs() <= 48),
    (r#"{"ball":"l1","center":["1/8"],"radius":0.75,"constraints":[{"row":[2],"rhs":1}]}"#, |x| {
        (x - 8).abs() <= 48 && x <= 32
    }),
    (r#"{"lo":[-1],"hi":[1],"constraints":[{"row":[1],"rhs":0.5},{"row":[-1],"rhs":0.25}]}"#, |x| {
        (-16..=32).contains(&x)
    }),
];

fn bundle(region: &str, nodes: &str, hints: &BTreeMap<String, Array>, bounds: usize) -> BTreeMap<String, Vec<u8>> {
    let limits = Limits::default();
    let payload = safetensors(&BTreeMap::new());
    let graph = Graph::read(GRAPH.as_bytes(), Some(&payload), &limits).unwrap();
    let stated = read_bounds(("r", region.as_bytes()), ("n", nodes.as_bytes()), true, &limits).unwrap();
    let digests = Digests::of(&graph, &stated).by_role();
    let digests: Vec<String> = digests.iter().map(|(role, hex)| format!("\"{}\":\"{hex}\"", role.name())).collect();
    let manifest = format!(
        r#"{{"format":"certkern.bundle.v1","kind":"nodes","files":{{"graph":"g","payload":"p","region":"r","nodes":"n","certificate":"c","hints":"h"}},"digests":{{{}}}}}"#,
        digests.join(",")
    );
    let certificate = format!(r#"{{"format":"certkern.leaves.v1","trees":{:?}}}"#, vec![0; bounds]);
    let texts = [("bundle.json", manifest.as_str()), ("g", GRAPH), ("r", region), ("n", nodes), ("c", &certificate)];
    let mut files: BTreeMap<String, Vec<u8>> =
        texts.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    files.insert("p".to_owned(), payload);
    files.insert("h".to_owned(), safetensors(hints));
    files
}

/// Random slopes, and random multipliers of the row of each entry and of the constraints.
fn hints(random: &mut Random, entries: usize, constraints: usize) -> BTreeMap<String, Array> {
    let slopes: Vec<f64> = (0..2 * entries).map(|_| random.below(5) as f64 / 4.0).collect();
    let (mut offsets, mut rows, mut multipliers) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..entries {
        for row in 0..=constraints {
            if row == 0 || random.below(2) == 0 {
                rows.push(row as u32);
                multipliers.push(if row == 0 { 1.0 } else { random.below(9) as f64 / 4.0 });
            }
        }
        offsets.push(rows.len() as u32);
    }
    let count = multipliers.len();
    let all = [
        ("leaf.2.columns", u32s(&[0, 1])),
        ("leaf.2.slope", f64s(&[entries, 2], &slopes)),
        ("leaf.rows.offset", u32s(&offsets)),
        ("leaf.rows.index", u32s(&rows)),
        ("leaf.rows.multiplier", f64s(&[count], &multipliers)),
    ];
    all.into_iter().map(|(name, array)| (name.to_owned(), array)).collect()
}

/// `p/64 + q/2⁴⁰` as text.
fn number(units: i64, tiny: i64) -> String {
    format!("\"{}/1099511627776\"", i128::from(units) * (1 << 34) + i128::from(tiny))
}

/// `crown` (or `ibp`, without slopes) of the three nodes: loose, but for one coordinate of one node, whose lower or upper bound has a slope and passes its value at
/// `x` at a distance of `tiny/2⁴⁰`: inward where that is positive.
fn document(slope: i64, (node, place, lower): (usize, usize, bool), x: i64, tiny: i64) -> String {
    let mut text = r#"{"format":"certkern.nodes.v1","nodes":["#.to_owned();
    for (id, widths) in [2, 2, 1].into_iter().enumerate() {
        let mut sides = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for coordinate in 0..widths {
            for (side, sign) in [(0, -1), (1, 1)] {
                let here = (id, coordinate, side == 0) == (node, place, lower);
                let constant = if here {
                    number(values(x)[id][coordinate] - slope * x, -sign * tiny)
                } else {
                    (sign * 100).to_string()
                };
                sides[side].push(format!("[{}]", if here { slope } else { 0 }));
                sides[side + 2].push(constant);
            }
        }
        let [lo_a, hi_a, lo, hi] = sides.map(|side| side.join(","));
        let comma = if id == 0 { "" } else { "," };
        let _ = match slope {
            0 => write!(text, r#"{comma}{{"id":{},"ibp":{{"lo":[{lo}],"hi":[{hi}]}}}}"#, id + 1),
            _ => write!(
                text,
                r#"{comma}{{"id":{},"crown":{{"loA":[{lo_a}],"loC":[{lo}],"hiA":[{hi_a}],"hiC":[{hi}]}}}}"#,
                id + 1
            ),
        };
    }
    text + "]}"
}

#[test]
fn what_is_false_at_a_point_is_never_accepted() {
    let mut random = Random(17);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..1500 {
        let (region, holds) = REGIONS[random.below(REGIONS.len())];
        let constraints = region.matches("row").count();
        let inside: Vec<i64> = (-64..=64).filter(|x| holds(*x)).collect();
        let x = inside[random.below(inside.len())];
        let slope = random.below(5) as i64 - 2;
        let node = random.below(3);
        let at = (node, random.below(values(x)[node].len()), random.below(2) == 0);
        let tiny = [1, 1 << 20, 1 << 38][random.below(3)];
        let hints = hints(&mut random, 10, constraints);
        let check = |tiny| support::check(&bundle(region, &document(slope, at, x, tiny), &hints, 10));
        let verdict = check(tiny);
        assert_eq!(verdict.line(), "s REJECTED leaf.unproved", "{region} {at:?} at {x} slope {slope}");
        let side = if at.2 { "lower" } else { "upper" };
        let form = if slope == 0 { "" } else { "affine " };
        let named = format!("({form}{side} bound of node {}, coordinate {})", at.0 + 1, at.1);
        assert!(Report::of(&verdict).text().contains(&named), "{named}: {}", Report::of(&verdict).text());
        refused += 1;
        // Far enough outward it is accepted with the same hints: the values lie within 2, the slopes take 2·2 and the multipliers 4.
        if constraints == 0 {
            assert!(check(-(1 << 45)).line().starts_with("s ACCEPTED nodes "));
            accepted += 1;
        }
    }
    assert!(refused == 1500 && accepted > 500, "{refused} {accepted}");
}

#[test]
fn what_lies_outside_is_told_in_every_report() {
    let mut files = bundle(REGIONS[3].0, &document(0, (0, 0, true), 0, -(1 << 45)), &BTreeMap::new(), 10);
    let manifest = String::from_utf8(files["bundle.json"].clone()).unwrap();
    let named = r#""outside":["scale: 1/255\u001b[2J","s ACCEPTED unsat\n"],"digests""#;
    files.insert("bundle.json".to_owned(), manifest.replace("\"digests\"", named).into_bytes());
    let verdict = support::check(&files);
    let (text, json) = (Report::of(&verdict).text(), Report::of(&verdict).json());
    assert!(verdict.line().starts_with("s ACCEPTED nodes "), "{text}");
    assert_eq!(text.matches("  assumed   outside: ").count(), 2);
    assert_eq!(json.matches(r#"{"name":"outside","evidence":"assumed","text":"#).count(), 2);
    // No text moves the cursor or makes a line of its own.
    assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line.starts_with("s ")), "{text}");
    // The constraints are counted, and that they leave an input is not claimed.
    assert!(text.contains("where 2 linear constraints hold") && text.contains("assumed   nonempty-region: "), "{text}");
    let whole = bundle(REGIONS[0].0, &document(0, (0, 0, true), 0, -(1 << 45)), &BTreeMap::new(), 10);
    assert!(!Report::of(&support::check(&whole)).text().contains("nonempty-region"));
    // No file of a property says what values inside should be, so none can be given.
    assert!(text.contains("assumed   property: ") && !text.contains("--property"), "{text}");
}
