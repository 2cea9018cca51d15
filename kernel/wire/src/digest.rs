//! Digests: SHA-256 over canonical bytes, one type for each role, so that no digest stands in for another.
//!
//! The bytes are defined in `schemas/SPEC.md`, section 6. They are injective: every string and list is preceded by its length, every
//! number is in lowest terms, and each role has its own tag.

use crate::reason::Reason;
use certkern_core::expr::Expressions;
use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable, Within};
use certkern_core::rules::ClaimedBall;
use certkern_core::tensor::{Tensor, Values};
use num_bigint::{BigInt, Sign};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// A digest type for a role. Two are equal if their bytes are.
macro_rules! digest {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name([u8; 32]);

        impl $name {
            /// Reads 64 lower-case hexadecimal digits.
            ///
            /// # Errors
            /// `bundle.digest` if `text` is anything else.
            pub fn parse(text: &str) -> Result<Self, Reason> {
                bytes_of_hex(text).map(Self).ok_or_else(|| Reason::BundleDigest(text.to_owned()))
            }

            /// The 32 bytes.
            #[must_use]
            pub fn bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    };
}

digest! {
    /// The digest of a graph, attributes and shapes included, numbers not.
    GraphDigest
}
digest! {
    /// The digest of the numbers of a graph.
    PayloadDigest
}
digest! {
    /// The digest of a region of inputs.
    InputDigest
}
digest! {
    /// The digest of the output ids and the unsafe set.
    OutputDigest
}
digest! {
    /// The digest of the expressions of an enclosure.
    QueryDigest
}
digest! {
    /// The digest of the balls of an enclosure.
    AnswerDigest
}
digest! {
    /// The digest of a claim: its kind, its proposition and the digests of its documents, and no hints.
    ClaimDigest
}

fn bytes_of_hex(text: &str) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'f' => char::from(byte).to_digit(16),
        _ => None,
    };
    let byte = |[high, low]: &[u8; 2]| u8::try_from((digit(*high)? << 4) | digit(*low)?).ok();
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>()?.try_into().ok()
}

/// A SHA-256 sink for canonical bytes. Nothing is kept but the state of the hash.
#[derive(Clone)]
#[must_use]
pub struct Canonical(Sha256);

impl Canonical {
    /// A sink that begins with the tag of a role.
    pub fn new(tag: &str) -> Self {
        let mut sink = Self(Sha256::new());
        sink.str(tag);
        sink
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// One byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes(&[byte]);
    }

    /// Eight bytes, little endian.
    pub fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// A place, a length or a number of things, as [`Canonical::u64`].
    pub fn index(&mut self, index: usize) {
        // No supported machine has addresses above 64 bits.
        self.u64(u64::try_from(index).unwrap_or(u64::MAX));
    }

    /// The length, then the UTF-8 bytes.
    pub fn str(&mut self, text: &str) {
        self.index(text.len());
        self.bytes(text.as_bytes());
    }

    /// The length of a list; its items must follow.
    pub fn list(&mut self, length: usize) {
        self.index(length);
    }

    /// A list of places.
    pub fn indices(&mut self, indices: &[usize]) {
        self.list(indices.len());
        indices.iter().for_each(|index| self.index(*index));
    }

    /// One byte for the sign, then the length and the bytes of the magnitude, unless it is zero.
    pub fn int(&mut self, number: &BigInt) {
        let (sign, magnitude) = number.to_bytes_le();
        match sign {
            Sign::NoSign => return self.byte(0),
            Sign::Plus => self.byte(1),
            Sign::Minus => self.byte(2),
        }
        self.index(magnitude.len());
        self.bytes(&magnitude);
    }

    /// Numerator and denominator.
    pub fn rat(&mut self, number: &Rational) {
        self.int(number.numer());
        self.int(number.denom());
    }

    /// One byte.
    pub fn bool(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    /// Ends the bytes of a graph.
    #[must_use]
    pub fn graph(self) -> GraphDigest {
        GraphDigest(self.finish())
    }

    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// The digest of the tensors of a payload, each with its node and field.
#[must_use]
pub fn payload_digest(tensors: &BTreeMap<(usize, &str), &Tensor>) -> PayloadDigest {
    let mut sink = Canonical::new("certkern/payload/1");
    sink.list(tensors.len());
    for ((node, field), tensor) in tensors {
        sink.index(*node);
        sink.str(field);
        let dtype = match tensor.values() {
            Values::Binary32(_) => "binary32",
            Values::Binary64(_) => "binary64",
            Values::Exact(_) => "exact",
        };
        sink.str(dtype);
        sink.indices(tensor.shape());
        match tensor.values() {
            Values::Binary32(values) => chunked(&mut sink, values, |value| value.to_le_bytes()),
            Values::Binary64(values) => chunked(&mut sink, values, |value| value.to_le_bytes()),
            Values::Exact(values) => values.iter().for_each(|value| sink.rat(value)),
        }
    }
    PayloadDigest(sink.finish())
}

/// The bytes of `values`, a few thousand at a time, since a hash dislikes small pieces.
fn chunked<T: Copy, const N: usize>(sink: &mut Canonical, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
    let mut block = [[0; N]; 1024];
    for chunk in values.chunks(block.len()) {
        block.iter_mut().zip(chunk).for_each(|(place, value)| *place = bytes(*value));
        sink.bytes(block.get(..chunk.len()).unwrap_or_default().as_flattened());
    }
}

/// The digest of the region of a property.
#[must_use]
pub fn input_digest(property: &Property) -> InputDigest {
    region_digest(property, &Within::default())
}

/// The digest of the part of a property's box that is left.
#[must_use]
pub fn region_digest(property: &Property, within: &Within) -> InputDigest {
    let whole = within.is_all();
    let mut sink = Canonical::new(if whole { "certkern/input/1" } else { "certkern/input/2" });
    sink.list(property.inputs());
    for (lower, upper) in property.lower.iter().zip(&property.upper) {
        sink.rat(lower);
        sink.rat(upper);
    }
    if !whole {
        sink.byte(within.ball.as_ref().map_or(0, |ball| ball.norm as u8));
        if let Some(ball) = &within.ball {
            ball.center.iter().chain([&ball.radius]).for_each(|number| sink.rat(number));
        }
        sink.list(within.rows.len());
        within.rows.iter().for_each(|each| row(&mut sink, each));
    }
    InputDigest(sink.finish())
}

/// The digest of the outputs of a graph and the unsafe set of a property: every row of every disjunct, those on inputs included.
#[must_use]
pub fn output_digest(output_ids: &[usize], property: &Property) -> OutputDigest {
    let mut sink = Canonical::new("certkern/output/1");
    sink.indices(output_ids);
    sink.index(property.inputs());
    sink.index(property.outputs);
    sink.list(property.disjuncts.len());
    for rows in &property.disjuncts {
        sink.list(rows.len());
        rows.iter().for_each(|each| row(&mut sink, each));
    }
    OutputDigest(sink.finish())
}

fn row(sink: &mut Canonical, row: &Row) {
    sink.list(row.terms.len());
    for (variable, coefficient) in &row.terms {
        let (role, index) = match variable {
            Variable::X(index) => (0, index),
            Variable::Y(index) => (1, index),
        };
        sink.byte(role);
        sink.index(*index);
        sink.rat(coefficient);
    }
    sink.rat(&row.bound);
    sink.bool(row.strict);
}

/// The digest of expressions.
#[must_use]
pub fn query_digest(expressions: &Expressions) -> QueryDigest {
    let mut sink = Canonical::new("certkern/query/1");
    sink.list(expressions.nodes().len());
    for node in expressions.nodes() {
        sink.str(node.name());
        sink.indices(node.arguments());
        sink.list(node.numbers().len());
        node.numbers().iter().for_each(|number| sink.rat(number));
    }
    sink.indices(expressions.outputs());
    QueryDigest(sink.finish())
}

/// The digest of balls.
#[must_use]
pub fn answer_digest(balls: &[ClaimedBall]) -> AnswerDigest {
    let mut sink = Canonical::new("certkern/answer/1");
    sink.list(balls.len());
    for ball in balls {
        sink.rat(&ball.midpoint);
        sink.rat(&ball.radius);
    }
    AnswerDigest(sink.finish())
}

/// The digest of a claim about documents with these digests, in the order graph, payload, input, output, or query, answer.
#[must_use]
pub fn claim_digest(kind: &str, proposition: &str, digests: &[&[u8; 32]]) -> ClaimDigest {
    let mut sink = Canonical::new("certkern/claim/1");
    sink.str(kind);
    sink.str(proposition);
    digests.iter().for_each(|digest| sink.bytes(*digest));
    ClaimDigest(sink.finish())
}
