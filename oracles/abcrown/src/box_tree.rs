//! Trees from the leaf boxes of a run with input splits.
//!
//! The dump holds boxes without history. A tree is found again by cutting: while a region holds more than one box, look for a coordinate
//! and a threshold inside the region such that each box lies on one side. Every tiling that arose from bisections has such a cut at every
//! step. Coordinates are numbers as the run held them, so faces of neighbours are equal bit for bit.

use crate::tree::{Source, TreeNode};
use std::fmt;

/// Why boxes are not the leaves of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum BoxFault {
    /// A part of the region lies in no box.
    Gap(BoxRegion),
    /// A box whose ends are crossed, not finite, or outside the region.
    Malformed {
        /// The box.
        leaf: usize,
        /// The coordinate.
        coordinate: usize,
        /// Its lower end.
        lower: f64,
        /// Its upper end.
        upper: f64,
    },
    /// Boxes that tile a part of the region, but no cut of one coordinate parts them.
    NoCut {
        /// The part of the region.
        region: BoxRegion,
        /// How many boxes tile it.
        leaves: usize,
    },
    /// Two boxes that share inner points.
    Overlap {
        /// The boxes.
        leaves: (usize, usize),
        /// Their common part.
        region: BoxRegion,
    },
}

/// A part of the input region: the intervals of those coordinates that are cut, the others being whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxRegion(pub Vec<(usize, f64, f64)>);

impl fmt::Display for BoxFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap(region) => write!(f, "no leaf box covers {region}"),
            Self::Malformed { leaf, coordinate, lower, upper } => {
                let (lower, upper) = (shortest(*lower), shortest(*upper));
                write!(f, "box {leaf}: x[{coordinate}] in [{lower}, {upper}] is no interval inside the region")
            }
            Self::NoCut { region, leaves } => {
                write!(f, "no cut of one coordinate parts the {leaves} leaf boxes of {region}")
            }
            Self::Overlap { leaves: (a, b), region } => write!(f, "boxes {a} and {b} both cover {region}"),
        }
    }
}

impl fmt::Display for BoxRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, "the whole region");
        }
        for (place, (coordinate, lower, upper)) in self.0.iter().enumerate() {
            let (comma, lower, upper) = (if place == 0 { "" } else { ", " }, shortest(*lower), shortest(*upper));
            write!(f, "{comma}x[{coordinate}] in [{lower}, {upper}]")?;
        }
        Ok(())
    }
}

/// The shortest decimal that gives the number back, as a binary32 number where it is one.
fn shortest(value: f64) -> String {
    let short = value as f32;
    if f64::from(short) == value { short.to_string() } else { value.to_string() }
}

/// Leaf boxes, `width` numbers for each corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boxes<'a> {
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
    pub(crate) width: usize,
}

/// A region and the boxes that are to tile it.
struct Part {
    lower: Vec<f64>,
    upper: Vec<f64>,
    members: Vec<usize>,
}

/// A cut: the boxes before `place` in the order of their lower ends in `coordinate` lie below `threshold`, the others above.
struct Cut {
    coordinate: usize,
    threshold: f64,
    place: usize,
}

impl Boxes<'_> {
    fn interval(&self, member: usize, coordinate: usize) -> (f64, f64) {
        let place = member * self.width + coordinate;
        (self.lower[place], self.upper[place])
    }

    fn corners(&self, member: usize) -> (&[f64], &[f64]) {
        let range = member * self.width..(member + 1) * self.width;
        (&self.lower[range.clone()], &self.upper[range])
    }

    /// The members in the order of their intervals in `coordinate`.
    fn ordered(&self, members: &[usize], coordinate: usize) -> Vec<usize> {
        let mut order = members.to_vec();
        order.sort_by(|a, b| {
            let (a, b) = (self.interval(*a, coordinate), self.interval(*b, coordinate));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        order
    }

    /// Checks that `member` is a finite box inside `part`.
    fn check(&self, member: usize, part: &Part) -> Result<(), BoxFault> {
        for coordinate in 0..self.width {
            let (lower, upper) = self.interval(member, coordinate);
            if !(part.lower[coordinate] <= lower && lower <= upper && upper <= part.upper[coordinate]) {
                return Err(BoxFault::Malformed { leaf: member, coordinate, lower, upper });
            }
        }
        Ok(())
    }
}

/// The tree of the boxes `members`, which are to tile the box from `lower` to `upper`; `input` is the input node of the
/// graph. There is at least one member, and the tensors have one corner for each member.
///
/// # Errors
/// [`BoxFault::Malformed`], [`BoxFault::Gap`], [`BoxFault::Overlap`] or [`BoxFault::NoCut`], which name
/// the place where the boxes do not tile.
pub(crate) fn rebuild(
    boxes: Boxes,
    members: Vec<usize>,
    (lower, upper): (&[f64], &[f64]),
    input: usize,
) -> Result<Vec<TreeNode>, BoxFault> {
    let root = Part { lower: lower.to_vec(), upper: upper.to_vec(), members };
    for member in &root.members {
        boxes.check(*member, &root)?;
    }
    let describe = |lower: &[f64], upper: &[f64]| describe((&root.lower, &root.upper), lower, upper);
    let mut tree = Vec::new();
    let mut stack = vec![Part { lower: lower.to_vec(), upper: upper.to_vec(), members: root.members.clone() }];
    while let Some(part) = stack.pop() {
        if let Some((lower, upper)) = uncovered_slab(boxes, &part) {
            return Err(BoxFault::Gap(describe(&lower, &upper)));
        }
        // A lone box that reaches every side of the region is the region.
        if let [member] = part.members.as_slice() {
            tree.push(TreeNode::Leaf { source: Source::Box(*member), splits: Vec::new() });
            continue;
        }
        let Some(cut) = find_cut(boxes, &part) else {
            if let Some((leaves, lower, upper)) = overlap(boxes, &part.members) {
                return Err(BoxFault::Overlap { leaves, region: describe(&lower, &upper) });
            }
            let region = describe(&part.lower, &part.upper);
            return Err(BoxFault::NoCut { region, leaves: part.members.len() });
        };
        tree.push(TreeNode::Split { node: input, coordinate: cut.coordinate, threshold: cut.threshold + 0.0 });
        let mut below = boxes.ordered(&part.members, cut.coordinate);
        let above = below.split_off(cut.place);
        let mut below = Part { lower: part.lower.clone(), upper: part.upper.clone(), members: below };
        let mut above = Part { lower: part.lower, upper: part.upper, members: above };
        below.upper[cut.coordinate] = cut.threshold;
        above.lower[cut.coordinate] = cut.threshold;
        stack.push(below);
        stack.push(above);
    }
    Ok(tree)
}

/// A part of the region between one of its sides and all of its boxes.
fn uncovered_slab(boxes: Boxes, part: &Part) -> Option<(Vec<f64>, Vec<f64>)> {
    for coordinate in 0..boxes.width {
        let intervals = part.members.iter().map(|member| boxes.interval(*member, coordinate));
        let (lower, upper) = intervals.fold((f64::INFINITY, f64::NEG_INFINITY), |hull, interval| {
            (hull.0.min(interval.0), hull.1.max(interval.1))
        });
        let (mut below, mut above) = (part.upper.clone(), part.lower.clone());
        below[coordinate] = lower;
        above[coordinate] = upper;
        if lower > part.lower[coordinate] {
            return Some((part.lower.clone(), below));
        }
        if upper < part.upper[coordinate] {
            return Some((above, part.upper.clone()));
        }
    }
    None
}

/// The cut that parts the boxes most evenly.
fn find_cut(boxes: Boxes, part: &Part) -> Option<Cut> {
    let half = part.members.len() / 2;
    let mut best: Option<Cut> = None;
    for coordinate in 0..boxes.width {
        let order = boxes.ordered(&part.members, coordinate);
        let mut reached = f64::NEG_INFINITY;
        for (place, member) in order.iter().enumerate() {
            let (threshold, upper) = boxes.interval(*member, coordinate);
            // A threshold at a side of the region would cut nothing off.
            let inside = part.lower[coordinate] < threshold && threshold < part.upper[coordinate];
            let better = best.as_ref().is_none_or(|best| place.abs_diff(half) < best.place.abs_diff(half));
            if place > 0 && inside && reached <= threshold && better {
                best = Some(Cut { coordinate, threshold, place });
            }
            reached = reached.max(upper);
        }
    }
    best
}

/// Two boxes that share inner points, and their common part. Only called on the way to an error, and content with the first few thousand
/// boxes, since it looks at all pairs.
#[allow(clippy::type_complexity, reason = "a pair of boxes and the two corners of their common part")]
fn overlap(boxes: Boxes, members: &[usize]) -> Option<((usize, usize), Vec<f64>, Vec<f64>)> {
    for (place, &a) in members.iter().take(4096).enumerate() {
        for &b in members.iter().take(4096).skip(place + 1) {
            let ((al, au), (bl, bu)) = (boxes.corners(a), boxes.corners(b));
            let lower: Vec<f64> = al.iter().zip(bl).map(|(a, b)| a.max(*b)).collect();
            let upper: Vec<f64> = au.iter().zip(bu).map(|(a, b)| a.min(*b)).collect();
            // A coordinate in which a box is a point has no inner points of its own.
            let flat = |c: usize| al[c] == au[c] || bl[c] == bu[c];
            if (0..boxes.width).all(|c| lower[c] < upper[c] || (lower[c] == upper[c] && flat(c))) {
                return Some(((a.min(b), a.max(b)), lower, upper));
            }
        }
    }
    None
}

/// The coordinates in which a box is smaller than the root.
fn describe(root: (&[f64], &[f64]), lower: &[f64], upper: &[f64]) -> BoxRegion {
    let sides = lower.iter().zip(upper).zip(root.0.iter().zip(root.1)).enumerate();
    let cut = sides.filter(|(_, (own, root))| own != root);
    BoxRegion(cut.map(|(coordinate, ((lower, upper), _))| (coordinate, *lower, *upper)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Corners = (Vec<f64>, Vec<f64>);

    /// The square [0, 4]²: first cut at x0 = 2, then the lower half at x1 = 1 and the upper half at x1 = 3 and, above it, x0 = 3.
    fn five_boxes() -> Corners {
        let boxes = [
            [[0.0, 0.0], [2.0, 1.0]],
            [[3.0, 3.0], [4.0, 4.0]],
            [[0.0, 1.0], [2.0, 4.0]],
            [[2.0, 0.0], [4.0, 3.0]],
            [[2.0, 3.0], [3.0, 4.0]],
        ];
        (boxes.iter().flat_map(|b| b[0]).collect(), boxes.iter().flat_map(|b| b[1]).collect())
    }

    fn tree_of(corners: &Corners) -> Result<Vec<TreeNode>, BoxFault> {
        let boxes = Boxes { lower: &corners.0, upper: &corners.1, width: 2 };
        rebuild(boxes, (0..corners.0.len() / 2).collect(), (&[0.0, 0.0], &[4.0, 4.0]), 0)
    }

    fn without(mut corners: Corners, member: usize) -> Corners {
        corners.0.drain(member * 2..member * 2 + 2);
        corners.1.drain(member * 2..member * 2 + 2);
        corners
    }

    fn split(coordinate: usize, threshold: f64) -> TreeNode {
        TreeNode::Split { node: 0, coordinate, threshold }
    }

    fn end(member: usize) -> TreeNode {
        TreeNode::Leaf { source: Source::Box(member), splits: Vec::new() }
    }

    #[test]
    fn bisections_are_found_again() {
        let wanted =
            [split(0, 2.0), split(1, 3.0), split(0, 3.0), end(1), end(4), end(3), split(1, 1.0), end(2), end(0)];
        assert_eq!(tree_of(&five_boxes()).unwrap(), wanted);
    }

    #[test]
    fn one_box_that_is_the_region_is_a_leaf() {
        assert_eq!(tree_of(&(vec![0.0, 0.0], vec![4.0, 4.0])).unwrap(), [end(0)]);
    }

    #[test]
    fn a_coordinate_of_width_zero_is_never_cut() {
        let boxes = Boxes { lower: &[1.0, 0.0, 1.0, 2.0], upper: &[1.0, 2.0, 1.0, 4.0], width: 2 };
        let tree = rebuild(boxes, vec![0, 1], (&[1.0, 0.0], &[1.0, 4.0]), 0).unwrap();
        assert_eq!(tree, [split(1, 2.0), end(1), end(0)]);
    }

    #[test]
    fn a_removed_box_is_a_gap_with_its_coordinates() {
        for (removed, wanted) in [
            (0, "no leaf box covers x[0] in [0, 2], x[1] in [0, 1]"),
            (1, "no leaf box covers x[0] in [3, 4], x[1] in [3, 4]"),
            // A part of the gap: without box 2 the cut at x1 = 3 is as even as that at x0 = 2.
            (2, "no leaf box covers x[0] in [0, 2], x[1] in [3, 4]"),
        ] {
            let text = tree_of(&without(five_boxes(), removed)).unwrap_err().to_string();
            assert!(text.starts_with(wanted), "{text}");
        }
    }

    #[test]
    fn a_moved_face_is_a_gap_or_an_overlap() {
        // Box 0 ends at x1 = 0.5 in place of 1.
        let mut corners = five_boxes();
        corners.1[1] = 0.5;
        let text = tree_of(&corners).unwrap_err().to_string();
        assert!(text.contains("no leaf box covers x[0] in [0, 2], x[1] in [0.5, 1]"), "{text}");
        // Box 0 ends at x1 = 1.5.
        corners.1[1] = 1.5;
        let text = tree_of(&corners).unwrap_err().to_string();
        assert!(text.contains("boxes 0 and 2 both cover x[0] in [0, 2], x[1] in [1, 1.5]"), "{text}");
    }

    #[test]
    fn a_doubled_box_is_an_overlap() {
        let mut corners = five_boxes();
        corners.0.extend([2.0, 3.0]);
        corners.1.extend([3.0, 4.0]);
        let text = tree_of(&corners).unwrap_err().to_string();
        assert!(text.contains("boxes 4 and 5 both cover x[0] in [2, 3], x[1] in [3, 4]"), "{text}");
    }

    #[test]
    fn a_tiling_without_a_cut_is_named() {
        // The pinwheel: four boxes around one in the middle.
        let lower = vec![0.0, 0.0, 3.0, 0.0, 1.0, 3.0, 0.0, 1.0, 1.0, 1.0];
        let upper = vec![3.0, 1.0, 4.0, 3.0, 4.0, 4.0, 1.0, 4.0, 3.0, 3.0];
        let text = tree_of(&(lower, upper)).unwrap_err().to_string();
        assert!(text.contains("no cut of one coordinate parts the 5 leaf boxes of the whole region"), "{text}");
    }

    #[test]
    fn boxes_outside_the_region_or_not_finite_are_refused() {
        for bad in [4.5, f64::NAN, -1.0] {
            let mut corners = five_boxes();
            corners.1[3] = bad;
            let error = tree_of(&corners).unwrap_err();
            assert!(matches!(error, BoxFault::Malformed { leaf: 1, coordinate: 1, .. }), "{error}");
        }
    }
}
