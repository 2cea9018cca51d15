//! Edits of certificates. Each is one change of one file, or of which files there are.

mod bytes;
mod documents;
mod files;
mod texts;
mod weights;

#[cfg(test)]
pub(crate) use documents::{producer_names, reorder};
#[cfg(test)]
pub(crate) use files::renamed;

use crate::bundle::{Bundle, MANIFEST};
use crate::number::{Rational, near, power};
use crate::random::Random;
use num_traits::{Signed, Zero};

/// What is to be changed, and by what.
pub(crate) struct Draw<'a> {
    pub(crate) bundle: &'a Bundle,
    /// All accepted certificates: what is spliced comes from them.
    pub(crate) others: &'a [Bundle],
    pub(crate) random: &'a mut Random,
}

/// An edit: its name, and the files that come of it.
pub(crate) struct Edited {
    pub(crate) family: &'static str,
    pub(crate) bundle: Bundle,
    /// Whether the same claim must be accepted.
    pub(crate) keeps: bool,
}

/// Every family, in the order of the report.
pub(crate) const FAMILIES: &[&str] = &[
    "field deleted",
    "field doubled",
    "field renamed",
    "field unknown",
    "field exchanged",
    "type",
    "text",
    "number by an ulp",
    "number by 10^-30",
    "number by its sign",
    "number by one",
    "number by another",
    "order",
    "duplication",
    "deletion",
    "splice of a value",
    "splice of a file",
    "splice of a tensor",
    "element by an ulp",
    "element by 10^-30",
    "element by its sign",
    "element by one",
    "element by another",
    "elements exchanged",
    "tensor deleted",
    "tensor doubled",
    "tensor renamed",
    "tensor reshaped",
    "tensors exchanged",
    "header",
    "bytes",
    "file deleted",
    "file added",
    "files exchanged",
    "same: spelling",
    "same: members reordered",
    "same: files renamed",
    "same: tensors reordered",
    "same: names of a producer",
    "same: comments",
];

/// One edit; `None` if the one that was drawn does not apply.
pub(crate) fn edit(draw: &mut Draw<'_>) -> Option<Edited> {
    let names: Vec<&String> = draw.bundle.files.keys().collect();
    let name = (*draw.random.pick(&names)?).clone();
    // The manifest is met less often: what it says beside the digests is soon said.
    if name == MANIFEST && !draw.random.one_in(3) {
        return None;
    }
    match draw.random.below(20) {
        0 => return files::edit(draw, &name),
        1 | 2 => return bytes::edit(draw, &name),
        _ => {}
    }
    let content = &draw.bundle.files[&name];
    let (family, changed, keeps) = if name.ends_with(".safetensors") {
        weights::edit(draw, content)?
    } else if crate::json::Json::parse(content).is_some() {
        documents::edit(draw, &name, content)?
    } else {
        texts::edit(draw, content)?
    };
    let mut bundle = draw.bundle.clone();
    bundle.files.insert(name, changed);
    Some(Edited { family, bundle, keeps })
}

/// An edit of one file: family, bytes, whether the claim stays.
type Changed = (&'static str, Vec<u8>, bool);

/// A way in which a number is changed.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    Ulp,
    Little,
    Sign,
    One,
    Another,
}

impl Way {
    fn draw(random: &mut Random) -> Self {
        [Self::Ulp, Self::Ulp, Self::Little, Self::Little, Self::Sign, Self::One, Self::One, Self::Another]
            [random.below(8)]
    }

    /// Numbers that are not thought of often.
    fn another(random: &mut Random) -> f64 {
        const NUMBERS: [f64; 12] =
            [0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, 1e30, 3.4e38, 5e-324, 4_294_967_296.0, 65536.0, 1e-3];
        NUMBERS[random.below(NUMBERS.len())]
    }

    /// The changed number; `None` if nothing changes.
    fn exact(self, value: &Rational, random: &mut Random) -> Option<Rational> {
        let up = random.one_in(2);
        let changed = match self {
            Self::Ulp => {
                let float = near(value);
                Rational::from_float(if up { float.next_up() } else { float.next_down() })?
            }
            Self::Little => value + power(10, -30) * Rational::from_integer(if up { 1 } else { -1 }.into()),
            Self::Sign => -value,
            Self::One => value + Rational::from_integer(if up { 1 } else { -1 }.into()),
            Self::Another => match random.below(3) {
                0 => value * Rational::from_integer(2.into()),
                1 => value * Rational::new(1001.into(), 1000.into()),
                _ => Rational::from_float(Self::another(random))?,
            },
        };
        (changed != *value).then_some(changed)
    }

    fn family(self) -> &'static str {
        match self {
            Self::Ulp => "number by an ulp",
            Self::Little => "number by 10^-30",
            Self::Sign => "number by its sign",
            Self::One => "number by one",
            Self::Another => "number by another",
        }
    }
}

/// Whether a number is a natural one that may be a place, a length or an id.
pub(crate) fn natural(value: &Rational) -> bool {
    value.is_integer() && !value.is_negative() && (value.is_zero() || *value < power(10, 6))
}
