//! Random split trees of a given number of leaves, in preorder.

use crate::random::Stream;

/// The deepest path.
pub(crate) const DEEPEST: usize = 24;

/// A neuron that may be split: its graph node (a pre-activation) and its coordinate.
pub(crate) type Neuron = (u32, u32);

/// A tree as its arrays stand in a certificate.
#[derive(Debug, Default)]
pub(crate) struct SplitTree {
    pub(crate) kind: Vec<u8>,
    pub(crate) node: Vec<u32>,
    pub(crate) coordinate: Vec<u32>,
    /// For each leaf in preorder the number of splits above it.
    pub(crate) depths: Vec<u32>,
}

/// A path of splits: `true` where the leaf lies on the side of a sign that is not negative.
pub(crate) type Path = Vec<(Neuron, bool)>;

impl SplitTree {
    /// A ragged tree with `leaves` leaves: each split takes a random neuron that was not split above it, and gives 40 to 60 percent of the
    /// leaves below it to its first child.
    pub(crate) fn random(leaves: usize, neurons: &[Neuron], seed: u64) -> Self {
        let mut tree = Self::default();
        let mut stream = Stream::new(seed);
        walk(leaves, |count, path| {
            if count == 1 {
                tree.kind.push(0);
                tree.node.push(0);
                tree.coordinate.push(0);
                tree.depths.push(path.len() as u32);
                return None;
            }
            let neuron = loop {
                let neuron = neurons[stream.below(neurons.len())];
                if path.iter().all(|(above, _)| *above != neuron) {
                    break neuron;
                }
            };
            tree.kind.push(1);
            tree.node.push(neuron.0);
            tree.coordinate.push(neuron.1);
            let most = 1_usize << (DEEPEST - path.len() - 1);
            let first = (count as f64 * (0.4 + 0.2 * stream.unit())) as usize;
            let first = first.clamp(count.saturating_sub(most).max(1), most.min(count - 1));
            Some((neuron, first))
        });
        tree
    }

    /// The number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.depths.len()
    }

    /// Calls `see` with the number and the path of each leaf.
    pub(crate) fn paths(&self, mut see: impl FnMut(usize, &Path)) {
        let (mut place, mut leaf) = (0, 0);
        let mut path = Path::new();
        while place < self.kind.len() {
            if self.kind[place] == 1 {
                path.push(((self.node[place], self.coordinate[place]), true));
            } else {
                see(leaf, &path);
                leaf += 1;
                while path.last().is_some_and(|(_, first)| !first) {
                    path.pop();
                }
                if let Some(last) = path.last_mut() {
                    last.1 = false;
                }
            }
            place += 1;
        }
    }
}

/// Makes a tree in preorder: `choose` sees how many leaves are to lie below a place and the path to it, and gives the neuron to split and the
/// share of the first child, or nothing for a leaf.
fn walk(leaves: usize, mut choose: impl FnMut(usize, &Path) -> Option<(Neuron, usize)>) {
    // What the second children on the path are to hold.
    let mut rests: Vec<usize> = Vec::new();
    let mut path = Path::new();
    let mut count = leaves;
    loop {
        if let Some((neuron, first)) = choose(count, &path) {
            path.push((neuron, true));
            rests.push(count - first);
            count = first;
            continue;
        }
        while path.last().is_some_and(|(_, first)| !first) {
            path.pop();
            rests.pop();
        }
        match (path.last_mut(), rests.last()) {
            (Some(last), Some(rest)) => {
                last.1 = false;
                count = *rest;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_have_their_leaves_and_no_neuron_twice_on_a_path() {
        let neurons: Vec<Neuron> = (0..40).map(|i| (i / 10, i % 10)).collect();
        for leaves in [1, 2, 3, 100, 5000] {
            let tree = SplitTree::random(leaves, &neurons, 7);
            let mut seen = 0;
            // The leaves below a path tile: each closes a share of 2^-depth.
            let mut share = 0.0;
            tree.paths(|leaf, path| {
                assert_eq!((leaf, tree.depths[leaf] as usize), (seen, path.len()));
                assert!(path.len() <= DEEPEST);
                let mut above: Vec<Neuron> = path.iter().map(|(neuron, _)| *neuron).collect();
                above.sort_unstable();
                assert!(above.windows(2).all(|pair| pair[0] != pair[1]));
                share += 0.5_f64.powi(path.len() as i32);
                seen += 1;
            });
            assert_eq!((seen, tree.leaves(), tree.kind.len()), (leaves, leaves, 2 * leaves - 1));
            assert_eq!(share, 1.0);
        }
    }
}
