//! `manifest.json` of a dump.

use crate::error::ConvertError;
use crate::hex_sha256;
use serde::{Deserialize, Deserializer, de};

/// The format that is read.
pub(crate) const FORMAT: &str = "abdump-0";

/// The manifest, as far as it is used. Other keys are the producer's own business.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) nodes: Vec<Node>,
    pub(crate) final_name: String,
    #[serde(default)]
    pub(crate) norm: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) fast_path_initial_crown: bool,
    #[serde(default)]
    pub(crate) root_alpha: Vec<RootAlpha>,
    #[serde(default)]
    pub(crate) leaves: Vec<Leaf>,
    /// The length of the tensor file.
    #[serde(default)]
    pub(crate) tensors_bytes: Option<usize>,
    /// The SHA-256 of the tensor file.
    #[serde(default)]
    pub(crate) tensors_sha256: Option<String>,
}

/// What every format has, read first: the rest of a manifest of another format may be anything.
#[derive(Deserialize)]
struct Head {
    format: serde_json::Value,
}

/// A node of the auto_LiRPA graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) perturbed: bool,
    pub(crate) shape: Vec<usize>,
}

/// An activation with optimised slopes.
#[derive(Debug, Deserialize)]
pub(crate) struct RootAlpha {
    pub(crate) act: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// A leaf of a run with ReLU splits.
#[derive(Debug, Deserialize)]
pub(crate) struct Leaf {
    pub(crate) id: u64,
    pub(crate) lb: Vec<Real>,
    pub(crate) rhs: Vec<Real>,
    pub(crate) splits: Vec<Split>,
}

/// One decision on the way to a leaf.
#[derive(Debug, Deserialize)]
pub(crate) struct Split {
    pub(crate) layer: String,
    pub(crate) neuron: usize,
    pub(crate) sign: i64,
    pub(crate) point: Real,
    pub(crate) beta: Real,
}

/// A number, or one of `NaN`, `Infinity`, `-Infinity`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Real(pub(crate) f64);

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Real;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number")
            }
            fn visit_f64<E>(self, value: f64) -> Result<Real, E> {
                Ok(Real(value))
            }
            // Integers in a dump are small; a larger one is rounded like any other decimal.
            fn visit_i64<E>(self, value: i64) -> Result<Real, E> {
                Ok(Real(value as f64))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Real, E> {
                Ok(Real(value as f64))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Real, E> {
                match value {
                    "NaN" => Ok(Real(f64::NAN)),
                    "Infinity" => Ok(Real(f64::INFINITY)),
                    "-Infinity" => Ok(Real(f64::NEG_INFINITY)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Manifest {
    /// Reads the manifest. The dumper is a Python program, whose JSON may hold bare `NaN`, `Infinity` and `-Infinity`.
    ///
    /// # Errors
    /// [`ConvertError::Manifest`], or [`ConvertError::Format`] if it is of another format.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ConvertError> {
        let text = quote_specials(bytes);
        let broken = |error: serde_json::Error| ConvertError::Manifest(error.to_string());
        let Head { format } = serde_json::from_slice(&text).map_err(broken)?;
        if format != FORMAT {
            return Err(ConvertError::Format(format.to_string()));
        }
        serde_json::from_slice(&text).map_err(broken)
    }

    /// Checks that the tensor file is the one that the manifest was written with, as far as the manifest says.
    ///
    /// # Errors
    /// [`ConvertError::CutOff`], [`ConvertError::OtherTensors`].
    pub(crate) fn check_tensors(&self, tensors: &[u8]) -> Result<(), ConvertError> {
        if let Some(wanted) = self.tensors_bytes.filter(|wanted| *wanted != tensors.len()) {
            return Err(ConvertError::CutOff { found: tensors.len(), wanted });
        }
        match &self.tensors_sha256 {
            Some(wanted) if *wanted != hex_sha256(tensors) => Err(ConvertError::OtherTensors),
            _ => Ok(()),
        }
    }
}

/// The same text with `NaN`, `Infinity` and `-Infinity` in quotes wherever they stand outside a string.
fn quote_specials(bytes: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut in_string = false;
    while let Some((&byte, tail)) = rest.split_first() {
        let special = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| rest.starts_with(word.as_bytes()));
        match special {
            Some(word) if !in_string => {
                quoted.push(b'"');
                quoted.extend_from_slice(word.as_bytes());
                quoted.push(b'"');
                rest = rest.get(word.len()..).unwrap_or_default();
                continue;
            }
            _ => {}
        }
        quoted.push(byte);
        rest = tail;
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                if let Some((&escaped, tail)) = rest.split_first() {
                    quoted.push(escaped);
                    rest = tail;
                }
            }
            _ => {}
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_special_numbers_are_read_and_names_stay() {
        let text = br#"{"format": "abdump-0", "final_name": "a\"NaN", "leaves": [{"id": 7, "lb": [Infinity, -Infinity],
            "rhs": [0.1], "splits": [{"layer": "Infinity", "neuron": 1, "sign": -1, "point": 0, "beta": NaN}]}],
            "nodes": []}"#;
        let manifest = Manifest::read(text).unwrap();
        assert_eq!(manifest.final_name, "a\"NaN");
        let leaf = &manifest.leaves[0];
        assert_eq!((leaf.lb[0].0, leaf.lb[1].0), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!(leaf.splits[0].layer, "Infinity");
        assert!(leaf.splits[0].beta.0.is_nan());
    }

    #[test]
    fn other_formats_and_broken_text_are_refused() {
        let other = br#"{"format": "abdump-1", "nodes": {}}"#;
        assert_eq!(Manifest::read(other).unwrap_err(), ConvertError::Format("\"abdump-1\"".to_owned()));
        assert!(matches!(Manifest::read(b"{"), Err(ConvertError::Manifest(_))));
        assert!(matches!(Manifest::read(b"NaN"), Err(ConvertError::Manifest(_))));
    }
}
