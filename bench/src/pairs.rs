//! Pairs of passes, with charges and without, over the same scopes in turn.

use crate::bundle::{Bundle, Said};
use crate::random::Stream;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::NodeId;
use certkern_core::rules::{Attempt, Filter, FilterScope, Multipliers, RuleError, Scope, Slopes};
use cpu_time::ThreadTime;
use std::ops::Range;
use std::sync::Arc;

/// Leaves of a batch, as in the checker.
const BATCH: usize = 64;

/// What the pairs of one workload came to.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// Seconds of each pair, by unit of work: without charges, with them.
    pub(crate) seconds: Vec<[f64; 2]>,
    /// What was done: leaves, or rows of bounds.
    pub(crate) units: usize,
    /// Leaves that the filter closed.
    pub(crate) decided: usize,
    /// Seconds for the bounds of the root in the filter.
    pub(crate) root: f64,
    /// Rows of bounds that the root asks for.
    pub(crate) rows: usize,
}

/// A problem in binary64 with the scopes of its roots.
pub(crate) struct Driver<'a> {
    bundle: &'a Bundle,
    filter: Arc<Filter>,
    below: Vec<usize>,
    /// The place of the threshold 0.
    zero: usize,
}

fn failed(error: RuleError) -> String {
    format!("{error:?}")
}

impl<'a> Driver<'a> {
    pub(crate) fn new(bundle: &'a Bundle) -> Said<Self> {
        let mut thresholds = bundle.thresholds.clone();
        let zero = thresholds.len();
        thresholds.push(Rational::default());
        let filter = Filter::new(bundle.documents.problem(), &thresholds);
        let filter = filter.ok_or("the problem is out of the filter's range")?;
        Ok(Self { bundle, filter, below: bundle.leaves_below(), zero })
    }

    fn apply(&self, scope: &mut FilterScope, set: usize, fresh: bool) -> Said<()> {
        let Some(set) = set.checked_sub(1).and_then(|set| self.bundle.sets.get(set)) else { return Ok(()) };
        if !fresh {
            scope.interval_bounds().map_err(failed)?;
        }
        for (argument, consumer) in self.bundle.arguments() {
            scope.tighten_unstable(argument, &consumer).map_err(failed)?;
            if let Some(start) = set.iter().find(|start| start.node == argument) {
                let slopes = start.slopes.iter().map(|(node, columns, lower, upper)| {
                    let of =
                        |values| certkern_core::rules::NodeSlopes { node: *node, columns, values, upper: None, row: 0 };
                    (of(lower), of(upper))
                });
                scope.tighten(argument, &start.rows, &slopes.collect::<Vec<_>>()).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn root(&self, set: usize) -> Said<FilterScope> {
        let mut scope = FilterScope::root(&self.filter, None).map_err(failed)?;
        self.apply(&mut scope, set, true)?;
        Ok(scope)
    }

    /// The scopes of the leaves `wanted` of a tree, counted in it, from the scope of its root. Bound sets below the root are applied if `bounds`.
    fn scopes(&self, tree: usize, root: &FilterScope, wanted: &Range<usize>, bounds: bool) -> Said<Vec<FilterScope>> {
        let Bundle { offset, kind, node, coordinate, threshold, set, .. } = self.bundle;
        let mut found = Vec::with_capacity(wanted.len());
        let mut open = vec![(offset[tree], 0, root.clone())];
        while let Some((place, leaf, mut scope)) = open.pop() {
            if place != offset[tree] && bounds {
                self.apply(&mut scope, set[place], false)?;
            }
            if kind[place] == 0 {
                found.push(scope);
                continue;
            }
            let first = place + 1;
            let second = self.after(first);
            let cut = leaf + self.below[first];
            let value = self.bundle.documents.value(node[place]).ok_or("a split of no node")?;
            let (up, down) = scope.split(value, coordinate[place], threshold[place]).map_err(failed)?;
            if wanted.end > cut {
                open.push((second, cut, down));
            }
            if wanted.start < cut {
                open.push((first, leaf, up));
            }
        }
        Ok(found)
    }

    /// The place after a subtree: a tree of n leaves has 2n − 1 nodes.
    fn after(&self, place: usize) -> usize {
        place + 2 * self.below[place] - 1
    }

    /// Passes of leaves: `pairs` runs of `leaves` of them, each run at a random place of a random tree.
    pub(crate) fn leaves(&self, pairs: usize, leaves: usize, seed: u64) -> Said<Pairs> {
        let mut stream = Stream::new(seed);
        let mut found = Pairs::default();
        let trees = self.bundle.offset.len() - 1;
        let firsts = first_entries(self.bundle, &self.below);
        // Trees by the entries in them.
        let total = firsts[trees];
        let start = ThreadTime::now();
        let root = self.root(self.bundle.set[self.bundle.offset[0]])?;
        found.root = start.elapsed().as_secs_f64();
        for pair in 0..pairs {
            let entry = stream.below(total);
            let tree = firsts.partition_point(|first| *first <= entry) - 1;
            let disjuncts = self.bundle.disjuncts(tree);
            let most = self.below[self.bundle.offset[tree]];
            let count = leaves.div_ceil(disjuncts.len()).clamp(1, most);
            let first = stream.below(most - count + 1);
            let entries = firsts[tree] + first * disjuncts.len()..firsts[tree] + (first + count) * disjuncts.len();
            let own: Vec<usize> = (0..count).flat_map(|_| disjuncts.iter().copied()).collect();
            let block = self.bundle.block(entries.clone(), &own)?;
            let mut seconds = [0.0; 2];
            // Which of the two comes first changes from pair to pair.
            for turn in 0..2 {
                let charged = (turn + pair) % 2;
                let start = ThreadTime::now();
                let scopes = self.scopes(tree, &root, &(first..first + count), true)?;
                let mut served = Vec::with_capacity(entries.len());
                for (place, disjunct) in own.iter().enumerate() {
                    served.push(scopes[place / disjuncts.len()].for_disjunct(*disjunct).map_err(failed)?);
                }
                let slopes: Vec<_> = entries.clone().map(|entry| block.slopes(entry)).collect();
                let attempts: Vec<Attempt<'_>> = served
                    .iter()
                    .zip(&block.multipliers)
                    .zip(&slopes)
                    .map(|((scope, multipliers), slopes)| Attempt { scope, multipliers, slopes })
                    .collect();
                for batch in attempts.chunks(BATCH) {
                    let decided = run(batch, charged == 1)?;
                    if charged == 1 {
                        found.decided += decided;
                    }
                }
                seconds[charged] = start.elapsed().as_secs_f64() / entries.len() as f64;
            }
            found.units += entries.len();
            found.seconds.push(seconds);
        }
        Ok(found)
    }

    /// Rows of bounds at the root, or at leaves that have bounds of their own: pairs over at most `most` batches for each node that is bounded.
    /// A row is bounded as the multiplier 1 of a literal, which is the same pass.
    pub(crate) fn rows(&self, scopes: usize, most: usize, seed: u64) -> Said<Pairs> {
        let mut stream = Stream::new(seed);
        let mut found = Pairs::default();
        for _ in 0..scopes {
            let leaf = stream.below(self.bundle.leaves());
            let (mut exact, mut scope, depth) = self.box_of(leaf)?;
            exact.interval_bounds().map_err(failed)?;
            scope.interval_bounds().map_err(failed)?;
            for (argument, consumer) in self.bundle.arguments() {
                let open = open(&exact, argument, self.bundle.documents.problem().program().width(argument));
                found.rows += open.len();
                let mut batches: Vec<&[usize]> = open.chunks(BATCH / 2).collect();
                while batches.len() > most {
                    batches.swap_remove(stream.below(batches.len()));
                }
                for batch in batches {
                    let seconds = self.row_pair(&scope, (argument, depth), batch, found.seconds.len())?;
                    found.units += 2 * batch.len();
                    found.seconds.push(seconds);
                }
                let start = ThreadTime::now();
                scope.tighten_unstable(argument, &consumer).map_err(failed)?;
                found.root += start.elapsed().as_secs_f64();
            }
        }
        Ok(found)
    }

    /// `depth` is the number of literals of the scope.
    fn row_pair(
        &self,
        scope: &FilterScope,
        (node, depth): (NodeId, usize),
        rows: &[usize],
        pair: usize,
    ) -> Said<[f64; 2]> {
        let mut halves = Vec::new();
        for row in rows {
            let (up, down) = scope.split(node, *row, self.zero).map_err(failed)?;
            for half in [down, up] {
                halves.push(half.for_disjunct(0).map_err(failed)?);
            }
        }
        let multipliers = Multipliers { rows: Vec::new(), literals: vec![(depth, Dyadic::new(1, 0))] };
        let attempt = |scope| Attempt { scope, multipliers: &multipliers, slopes: &[] };
        let attempts: Vec<Attempt<'_>> = halves.iter().map(attempt).collect();
        let mut seconds = [0.0; 2];
        for turn in 0..2 {
            let charged = (turn + pair) % 2;
            let start = ThreadTime::now();
            run(&attempts, charged == 1)?;
            seconds[charged] = start.elapsed().as_secs_f64() / attempts.len() as f64;
        }
        Ok(seconds)
    }

    /// The region of a leaf of the first tree, without any bounds but intervals, and the number of splits above it.
    fn box_of(&self, leaf: usize) -> Said<(Scope, FilterScope, usize)> {
        let Bundle { offset, kind, node, coordinate, threshold, .. } = self.bundle;
        let mut exact = Scope::root(self.bundle.documents.problem(), None, 2).map_err(failed)?;
        let mut scope = FilterScope::root(&self.filter, None).map_err(failed)?;
        let (mut place, mut leaf, mut depth) = (offset[0], leaf.min(self.below[0] - 1), 0);
        while kind[place] == 1 {
            let value = self.bundle.documents.value(node[place]).ok_or("a split of no node")?;
            let cut = &self.bundle.thresholds[threshold[place]];
            let (up, down) = exact.split(value, coordinate[place], cut).map_err(failed)?;
            let (float_up, float_down) = scope.split(value, coordinate[place], threshold[place]).map_err(failed)?;
            let below = self.below[place + 1];
            depth += 1;
            if leaf < below {
                (exact, scope) = (up, float_up);
                place += 1;
            } else {
                (exact, scope) = (down, float_down);
                leaf -= below;
                place = self.after(place + 1);
            }
        }
        Ok((exact, scope, depth))
    }

    /// Seconds of an exact row of bounds at the root, by node over at most `most` rows, for as many rows as are open.
    pub(crate) fn exact_rows(&self, most: usize, seed: u64) -> Said<f64> {
        let mut stream = Stream::new(seed);
        let scope = Scope::root(self.bundle.documents.problem(), None, 3).map_err(failed)?;
        let none = Slopes::default();
        let mut sum = 0.0;
        for (argument, _) in self.bundle.arguments() {
            let mut open = open(&scope, argument, self.bundle.documents.problem().program().width(argument));
            let count = open.len();
            while open.len() > most {
                open.swap_remove(stream.below(open.len()));
            }
            let start = ThreadTime::now();
            for row in &open {
                scope.tightened(argument, *row, &none, &none).map_err(failed)?;
            }
            sum += start.elapsed().as_secs_f64() / open.len().max(1) as f64 * count as f64;
        }
        Ok(sum)
    }
}

/// One pass for each attempt; gives how many were refuted.
fn run(batch: &[Attempt<'_>], charged: bool) -> Said<usize> {
    if charged {
        return Ok(FilterScope::refute(batch).iter().flatten().count());
    }
    let bounds = FilterScope::uncharged(batch).ok_or("a pass out of the filter's range")?;
    Ok(std::hint::black_box(bounds).iter().filter(|bound| **bound > 0.0).count())
}

/// The coordinates of a node whose sign is not known.
fn open(scope: &Scope, node: NodeId, width: usize) -> Vec<usize> {
    let known = |row: &usize| scope.interval(node, *row);
    let unknown = |row: &usize| known(row).is_some_and(|known| known.lower.is_negative() && known.upper.is_positive());
    (0..width).filter(unknown).collect()
}

/// The first entry of each tree, and the number of entries.
fn first_entries(bundle: &Bundle, below: &[usize]) -> Vec<usize> {
    let mut firsts = vec![0];
    for (tree, root) in bundle.offset[..bundle.offset.len() - 1].iter().enumerate() {
        firsts.push(firsts[tree] + below[*root] * bundle.disjuncts(tree).len());
    }
    firsts
}
