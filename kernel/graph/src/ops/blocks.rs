//! Groups of channels: a weight is dense, and zero off the blocks of its groups.

use super::Refusal;
use crate::attributes::Attributes;
use crate::shape;
use certkern_core::tensor::{Tensor, Values};

/// Refuses groups that do not divide the channels.
pub(super) fn divide(attributes: &Attributes) -> Result<(), Refusal> {
    let groups = attributes.number("groups")?;
    for name in ["in_channels", "out_channels"] {
        let channels = attributes.number(name)?;
        if !channels.is_multiple_of(groups) {
            let detail = format!("`{name}` is {channels}, which {groups} groups do not divide");
            return Err(Refusal::Attribute("groups", detail));
        }
    }
    Ok(())
}

/// Refuses a weight of shape `[rows, columns, kernel…]`, the axes of channels named, that is not zero off the blocks.
pub(super) fn zero_off(
    weight: Option<&Tensor>,
    attributes: &Attributes,
    rows: &str,
    columns: &str,
) -> Result<(), Refusal> {
    let groups = attributes.number("groups")?;
    if groups == 1 {
        return Ok(());
    }
    let columns = attributes.number(columns)?;
    let (block_columns, block_rows) = (columns.checked_div(groups), attributes.number(rows)?.checked_div(groups));
    let taps = shape::elements(attributes.list("kernel")?);
    let (Some(weight), Some(block_columns), Some(block_rows), Some(taps)) = (weight, block_columns, block_rows, taps)
    else {
        return Err(Refusal::Internal("groups without blocks"));
    };
    let stray = nonzero_places(weight).find(|place| {
        let channel = place.checked_div(taps).unwrap_or(0);
        let (row, column) = (channel.checked_div(columns), channel.checked_rem(columns));
        row.and_then(|row| row.checked_div(block_rows)) != column.and_then(|column| column.checked_div(block_columns))
    });
    match stray {
        None => Ok(()),
        Some(place) => {
            let detail = format!("element {place} joins channels of two of the {groups} groups and is not zero");
            Err(Refusal::Payload("weight", detail))
        }
    }
}

fn nonzero_places(tensor: &Tensor) -> Box<dyn Iterator<Item = usize> + '_> {
    fn places<T>(values: &[T], nonzero: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
        values.iter().enumerate().filter_map(move |(place, value)| nonzero(value).then_some(place))
    }
    // A float is zero exactly if all bits but its sign are.
    match tensor.values() {
        Values::Binary32(values) => Box::new(places(values, |bits| bits << 1 != 0)),
        Values::Binary64(values) => Box::new(places(values, |bits| bits << 1 != 0)),
        Values::Exact(values) => Box::new(places(values, |value| *value.numer() != 0.into())),
    }
}
