//! Maxima and minima over groups of coordinates.

use crate::lowering::Lowering;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;

/// Which end of the numbers.
#[derive(Clone, Copy)]
pub(super) enum Extremum {
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl Extremum {
    /// Of each group of coordinates of a node. The least is that of the negated numbers, negated.
    pub(super) fn of(self, argument: NodeId, groups: Vec<Vec<usize>>, program: &mut Lowering) -> Option<NodeId> {
        match self {
            Self::Max => Some(program.max(argument, groups)),
            Self::Min => {
                let negated = program.negation(argument)?;
                let greatest = program.max(negated, groups);
                program.negation(greatest)
            }
        }
    }

    /// Of nodes of one width, coordinate by coordinate.
    pub(super) fn of_all(self, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
        let width = program.width(*parents.first()?)?;
        let length = width.checked_mul(parents.len())?;
        let mut terms = Vec::with_capacity(parents.len());
        for (number, parent) in parents.iter().enumerate() {
            let start = number.checked_mul(width)?;
            let sources = (0..length).map(|place| place.checked_sub(start).filter(|own| *own < width)).collect();
            terms.push(Term { parent: *parent, map: LinearMap::select(sources, width)? });
        }
        let joined = program.affine(length, terms, None)?;
        let group = |place| (place..length).step_by(width.max(1)).collect();
        self.of(joined, (0..width).map(group).collect(), program)
    }

    /// The numbers that [`Extremum::of_all`] holds for `parents` nodes of a width.
    pub(super) fn entries(width: usize, parents: usize) -> Option<usize> {
        width.checked_mul(parents)?.checked_mul(parents.checked_add(3)?)
    }
}
