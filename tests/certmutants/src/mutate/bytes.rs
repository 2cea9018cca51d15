//! Changes of bytes, whatever they mean.

use super::{Draw, Edited};

pub(super) fn edit(draw: &mut Draw<'_>, name: &str) -> Option<Edited> {
    let mut bundle = draw.bundle.clone();
    let content = bundle.files.get_mut(name)?;
    let random = &mut *draw.random;
    for _ in 0..=random.below(2) {
        if content.is_empty() {
            break;
        }
        let (at, length) = (random.below(content.len()), 1 + random.below(8));
        let end = (at + length).min(content.len());
        match random.below(6) {
            0 => content[at] ^= 1 << random.below(8),
            1 => content[at] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'-', b'"'][random.below(8)],
            2 => drop(content.drain(at..end)),
            3 => {
                let part = content[at..end].to_vec();
                drop(content.splice(at..at, part));
            }
            4 => content.truncate(at),
            _ => {
                // Bytes of the same file of another certificate.
                let other = random.pick(draw.others)?;
                let foreign = other.files.get(name)?;
                let from = random.below(foreign.len().max(1));
                let part = foreign.get(from..(from + length).min(foreign.len()))?.to_vec();
                drop(content.splice(at..end, part));
            }
        }
    }
    Some(Edited { family: "bytes", bundle, keeps: false })
}
