//! Parts: however a certificate is cut, in whatever order its parts are joined, and wherever its hints lie, there is one verdict.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read the corpus; the kernel does not")]

use crate::support::{Bundle, GRAPH, Random, above, f64s, safetensors, u8s, u32s};
use certkern_claims::{Arith, Files, Opened, Part, Sources};
use certkern_report::{Report, Words};
use certkern_seal::Verdict;
use certkern_wire::limits::Limits;
use certkern_wire::reason::Rejection;
use certkern_wire::tensors::Source;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

type Owned = BTreeMap<String, Vec<u8>>;

fn borrowed(files: &Owned) -> Files<'_> {
    files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect()
}

/// Line and report, without the counts of the tiers if the tiers differ.
fn told(verdict: &Verdict) -> (String, String) {
    (verdict.line(), Report::of(verdict).json())
}

/// Checks the parts between `cuts`, and joins them in another order; the rejection of the first entry counts.
fn in_parts(opened: &Opened<'_>, cuts: &[usize], random: &mut Random) -> Verdict {
    let mut parts: Vec<Part> = Vec::new();
    let mut first: Option<(usize, Rejection)> = None;
    for ends in cuts.windows(2) {
        match opened.check(ends[0]..ends[1], &()) {
            Ok(part) => parts.insert(random.below(parts.len() + 1), part),
            Err((entry, rejection)) => {
                assert!((ends[0]..ends[1]).contains(&entry));
                if first.as_ref().is_none_or(|(known, _)| entry < *known) {
                    first = Some((entry, rejection));
                }
            }
        }
    }
    first.map_or_else(|| opened.join(parts), |(_, rejection)| Verdict::Rejected(rejection))
}

/// Asserts that a bundle has one verdict, and gives it.
fn one_verdict(files: &Owned, name: &str, random: &mut Random) -> Verdict {
    let (files, limits, sources) = (borrowed(files), Limits::default(), Sources::new());
    let mut verdicts = Vec::new();
    for arith in [Arith::Exact, Arith::Auto] {
        let opened = match Opened::new(&files, &sources, &limits, arith) {
            Ok(opened) => opened,
            Err(rejection) => {
                verdicts.push(Verdict::Rejected(rejection));
                continue;
            }
        };
        let entries = opened.entries();
        let whole = in_parts(&opened, &[0, entries], random);
        let singles: Vec<usize> = (0..=entries).collect();
        let mut cuts = vec![singles.into_iter().step_by(1.max(entries / 40)).chain([entries]).collect::<Vec<_>>()];
        for _ in 0..3 {
            let mut cut: Vec<usize> = (0..random.below(6)).map(|_| random.below(entries + 1)).collect();
            cut.extend([0, entries]);
            cut.sort_unstable();
            cuts.push(cut);
        }
        for mut cut in cuts {
            cut.dedup();
            let parts = in_parts(&opened, &cut, random);
            assert_eq!(told(&parts), told(&whole), "{name}, {arith:?}, cut at {cut:?}");
        }
        verdicts.push(whole);
    }
    let [exact, auto] = <[Verdict; 2]>::try_from(verdicts).unwrap();
    assert_eq!(exact.line(), auto.line(), "{name}");
    if let (Verdict::Rejected(exact), Verdict::Rejected(auto)) = (&exact, &auto) {
        assert_eq!(exact, auto, "{name}");
    }
    auto
}

fn corpus(verdict: &str) -> Vec<(PathBuf, Owned)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../certs").join(verdict);
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let read = |folder: PathBuf| {
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.is_file());
        let named = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        let files: Owned = files.map(named).collect();
        (folder, files)
    };
    folders(&top).iter().flat_map(|kind| folders(kind)).map(read).collect()
}

#[test]
fn every_case_has_one_verdict_however_it_is_cut() {
    let mut random = Random(1);
    let (mut accepted, mut rejected) = (0, 0);
    for (folder, files) in corpus("accept") {
        let verdict = one_verdict(&files, &folder.display().to_string(), &mut random);
        assert_eq!(verdict.exit_code(), 0, "{}", folder.display());
        accepted += 1;
    }
    for (folder, files) in corpus("reject") {
        let verdict = one_verdict(&files, &folder.display().to_string(), &mut random);
        // Some are wrong only beside the user's own files or other folders, which are the command line's affair.
        let outside = folder.with_extension("args").is_file() || folder.ends_with("bundle.file/folder");
        assert!(verdict.exit_code() != 0 || outside, "{}", folder.display());
        rejected += usize::from(verdict.exit_code() != 0);
    }
    assert!(accepted >= 8 && rejected >= 150, "{accepted} {rejected}");
}

/// A certificate of `leaves` leaves by splits of the input: a comb, which is as deep as it is long.
fn comb(leaves: usize, bound: &str) -> Bundle {
    let splits = leaves - 1;
    // Leaf i is x ≥ 1 − (i + 1)/leaves under the earlier halves.
    let nodes = 2 * leaves - 1;
    let at = |place: usize| place < 2 * splits && place.is_multiple_of(2);
    let kinds: Vec<u8> = (0..nodes).map(|place| u8::from(at(place))).collect();
    let thresholds: Vec<f64> = (1..leaves).map(|i| 1.0 - 2.0 * i as f64 / leaves as f64).collect();
    let places: Vec<u32> = (0..nodes).map(|place| if at(place) { place as u32 / 2 } else { 0 }).collect();
    let zeros = vec![0; nodes];
    Bundle {
        kind: "leaves",
        graph: GRAPH.to_owned(),
        property: above(bound),
        certificate: r#"{"format":"certkern.leaves.v1","trees":[0]}"#.to_owned(),
        hints: BTreeMap::new(),
    }
    .hint("tree.offset", u32s(&[0, nodes as u32]))
    .hint("tree.kind", u8s(&kinds))
    .hint("tree.node", u32s(&zeros))
    .hint("tree.coordinate", u32s(&zeros))
    .hint("tree.threshold", u32s(&places))
    .hint("threshold.value", f64s(&[splits], &thresholds))
    .hint("leaf.2.columns", u32s(&[0, 1]))
    .hint("leaf.2.slope", f64s(&[leaves, 2], &vec![0.0; 2 * leaves]))
    .hint("leaf.rows.offset", u32s(&(0..=leaves as u32).collect::<Vec<_>>()))
    .hint("leaf.rows.index", u32s(&vec![0; leaves]))
    .hint("leaf.rows.multiplier", f64s(&[leaves], &vec![1.0; leaves]))
}

#[test]
fn parts_that_are_not_the_whole_prove_nothing() {
    let files = comb(40, "0.76").files();
    let (files, limits) = (borrowed(&files), Limits::default());
    let sources = Sources::new();
    let open = || Opened::new(&files, &sources, &limits, Arith::Auto).unwrap();
    let (own, other) = (open(), open());
    assert_eq!(own.entries(), 40);
    let part = |range| own.check(range, &()).unwrap();
    assert_eq!(own.join([part(0..7), part(7..8), part(8..40)]).exit_code(), 0);
    let refused = |parts: Vec<Part>| {
        let verdict = own.join(parts);
        assert_eq!((verdict.exit_code(), verdict.line().as_str()), (70, ""), "{verdict:?}");
    };
    refused(vec![]);
    refused(vec![part(0..39)]);
    refused(vec![part(1..40)]);
    refused(vec![part(0..7), part(8..40)]);
    refused(vec![part(0..7), part(7..40), part(0..7)]);
    refused(vec![part(0..8), part(7..40)]);
    refused(vec![part(0..40), part(0..40)]);
    refused(vec![part(0..40), part(3..4)]);
    // The same documents, opened apart: the halves of a split must speak of one problem.
    refused(vec![part(0..7), other.check(7..40, &()).unwrap()]);
    refused(vec![other.check(0..40, &()).unwrap()]);
    for none in [0..0, 5..5, 40..41, 0..41, usize::MAX - 1..usize::MAX] {
        assert_eq!(own.check(none, &()).unwrap_err().1.first().reason.code(), "internal");
    }
}

#[test]
fn the_first_entry_that_is_not_proved_decides() {
    let slopes = |at: &[(usize, f64)]| {
        let mut slopes = vec![0.0; 80];
        at.iter().for_each(|(entry, slope)| slopes[2 * entry + 1] = *slope);
        comb(40, "0.76").hint("leaf.2.slope", f64s(&[40, 2], &slopes))
    };
    let mut random = Random(2);
    let mut place = |bundle: Bundle| {
        let verdict = one_verdict(&bundle.files(), "comb", &mut random);
        let Verdict::Rejected(rejection) = &verdict else { return (verdict.line(), String::new()) };
        (verdict.line(), Words(&rejection.first().reason).to_string())
    };
    assert!(place(slopes(&[])).0.starts_with("s ACCEPTED"));
    // NaN behind a slope outside its domain, and the other way round; both in one batch.
    let (line, text) = place(slopes(&[(20, 1.5), (23, f64::NAN)]));
    assert_eq!(line, "s REJECTED hint.domain");
    assert!(text.contains("coordinate 1 of value"), "{text}");
    let (line, text) = place(slopes(&[(20, f64::NAN), (23, 1.5)]));
    assert_eq!(line, "s REJECTED hint.domain");
    assert!(text.contains("leaf.2.slope[41]"), "{text}");
    // Above 0.7499 the first leaf is not proved, whatever comes later.
    let later = Bundle { property: above("0.7499"), ..slopes(&[(1, f64::NAN)]) };
    assert_eq!(place(later).0, "s REJECTED leaf.unproved");
}

#[test]
fn each_tier_is_counted_and_binary64_is_an_assumption() {
    // The open row is touched in the first leaf alone, at x = 1: only exact numbers tell that the bound is zero.
    let open = |bound| Bundle { property: above(bound).replace("false", "true"), ..comb(40, bound) };
    let counts = |bundle: &Bundle, arith| {
        let verdict = one_of(bundle, arith);
        let report = Report::of(&verdict).json();
        let count = |name: &str| {
            let text = report.split(&format!("\"{name}\":")).nth(1).unwrap();
            text.split([',', '}']).next().unwrap().parse::<usize>().unwrap()
        };
        (count("filter"), count("exact"), report.contains("\"name\":\"binary64\",\"evidence\":\"assumed\""))
    };
    assert_eq!(counts(&open("0.76"), Arith::Auto), (40, 0, true));
    assert_eq!(counts(&open("0.75"), Arith::Auto), (39, 1, true));
    assert_eq!(counts(&open("0.75"), Arith::Exact), (0, 40, false));
    assert_eq!(one_of(&open("0.75"), Arith::Auto).line(), one_of(&open("0.75"), Arith::Exact).line());
    assert_eq!(one_verdict(&open("0.75").files(), "comb", &mut Random(5)).exit_code(), 0);
}

/// A file that does as it likes: reads from `spoilt` on get other bytes, or none.
struct Unsteady {
    bytes: Vec<u8>,
    reads: AtomicUsize,
    spoilt: usize,
    how: Spoil,
}

#[derive(Clone, Copy, Debug)]
enum Spoil {
    /// The file has become shorter.
    Gone,
    /// Every byte is this one.
    Bytes(u8),
}

impl Source for Unsteady {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let whole = self.bytes.as_slice().read(offset, into);
        if self.reads.fetch_add(1, Ordering::Relaxed) >= self.spoilt {
            match self.how {
                Spoil::Gone => return false,
                Spoil::Bytes(byte) => into.fill(byte),
            }
        }
        whole
    }
}

/// The verdict with one streamed file, and how often that was read.
fn streamed(bundle: &Bundle, name: &str, arith: Arith, spoilt: usize, how: Spoil) -> (Verdict, usize) {
    let mut files = bundle.files();
    let bytes = files.remove(name).unwrap();
    let source = Unsteady { bytes, reads: AtomicUsize::new(0), spoilt, how };
    let sources: Sources<'_> = [(name.to_owned(), &source as &dyn Source)].into();
    let files = borrowed(&files);
    let verdict = match Opened::new(&files, &sources, &Limits::default(), arith) {
        Ok(opened) => in_parts(&opened, &[0, 3, opened.entries()], &mut Random(3)),
        Err(rejection) => Verdict::Rejected(rejection),
    };
    (verdict, source.reads.into_inner())
}

#[test]
fn a_file_that_changes_under_the_check_is_refused_and_proves_nothing_false() {
    // True, and closed by every slope and multiplier 1; false with every hint: y = 3/4 at x = 1.
    let (holds, fails) = (comb(8, "0.76"), comb(8, "0.75"));
    let files = [("cert.safetensors", 16), ("payload.safetensors", 2)];
    for (arith, (name, least)) in [Arith::Exact, Arith::Auto].into_iter().flat_map(|a| files.map(|file| (a, file))) {
        let (verdict, reads) = streamed(&holds, name, arith, usize::MAX, Spoil::Gone);
        assert_eq!(told(&verdict), told(&one_of(&holds, arith)));
        assert!(reads >= least, "{name}: {reads}");
        for spoilt in 0..reads {
            let (gone, _) = streamed(&holds, name, arith, spoilt, Spoil::Gone);
            assert_eq!(gone.exit_code(), 2, "{name}, {arith:?}, read {spoilt}: {gone:?}");
            for byte in [0, 1, 0x3f, 0x7f, 0xff] {
                for bundle in [&holds, &fails] {
                    let (verdict, _) = streamed(bundle, name, arith, spoilt, Spoil::Bytes(byte));
                    let code = verdict.exit_code();
                    let expected: &[u8] = if std::ptr::eq(bundle, &fails) { &[1, 2, 3] } else { &[0, 1, 2, 3] };
                    assert!(expected.contains(&code), "{name}, {arith:?}, read {spoilt} gives {byte}: {verdict:?}");
                }
            }
        }
    }
}

fn one_of(bundle: &Bundle, arith: Arith) -> Verdict {
    let files = bundle.files();
    let (files, limits) = (borrowed(&files), Limits::default());
    let sources = Sources::new();
    let opened = Opened::new(&files, &sources, &limits, arith).unwrap();
    in_parts(&opened, &[0, opened.entries()], &mut Random(4))
}

#[test]
fn streamed_hints_are_a_file_of_the_bundle() {
    let bundle = comb(3, "0.76");
    let files = bundle.files();
    let bytes = safetensors(&bundle.hints);
    let (files, source, limits) = (borrowed(&files), bytes.as_slice(), Limits::default());
    // The manifest does not name it.
    let sources: Sources<'_> = [("more.safetensors".to_owned(), &source as &dyn Source)].into();
    let stranger = Opened::new(&files, &sources, &limits, Arith::Auto);
    assert_eq!(stranger.unwrap_err().first().reason.code(), "bundle.file");
    // The whole file is within one budget, what is read whole within another.
    let small = Limits { hint_bytes: bytes.len() - 1, ..Limits::default() };
    let sources: Sources<'_> = [("cert.safetensors".to_owned(), &source as &dyn Source)].into();
    let refused = Opened::new(&files, &sources, &small, Arith::Auto);
    assert_eq!(refused.unwrap_err().first().reason.code(), "limit.hint-bytes");
}

#[test]
fn tensors_of_leaves_are_read_by_rows_and_trees_are_not() {
    // 199 nodes in the tree, and two slopes for each of 100 leaves.
    let files = comb(100, "0.76").files();
    let line = |elements| crate::support::check_within(&files, &Limits { elements, ..Limits::default() }).line();
    // One budget is for tensors that are read whole, and not for those of leaves.
    assert!(line(199).starts_with("s ACCEPTED"), "{}", line(199));
    assert_eq!(line(198), "s LIMIT elements");
}

#[test]
fn too_many_multipliers_for_one_entry_are_a_limit() {
    let bundle = comb(2, "0.76")
        .hint("leaf.rows.offset", u32s(&[0, 1, 6]))
        .hint("leaf.rows.index", u32s(&[0; 6]))
        .hint("leaf.rows.multiplier", f64s(&[6], &[1.0; 6]));
    let line = |rows| crate::support::check_within(&bundle.files(), &Limits { rows, ..Limits::default() }).line();
    assert!(line(5).starts_with("s ACCEPTED"));
    assert_eq!(line(4), "s LIMIT rows");
}
