//! Why a file was not imported.

use std::fmt;

/// What was found, where, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place in the file: a node, an initializer, or a path of fields.
    pub place: String,
    /// What was found there.
    pub detail: String,
    /// What the user can do.
    pub way_out: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.detail, self.way_out)
    }
}

/// Why a file was not imported. The text of each names the place and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportError {
    /// An attribute is missing, of the wrong type, of a value that cannot be expressed, or not used by its operator.
    Attribute(Fault),
    /// A field of the schema that the importer does not understand, or one that stands twice, holds something.
    Field(Fault),
    /// The graph does not have exactly one input, or not outputs, of a known type and shape, or a name is defined twice or never.
    Interface(Fault),
    /// A tensor is larger than the importer takes on.
    Limit(Fault),
    /// The bytes are no ONNX file.
    Malformed(Fault),
    /// An input of an operator is missing, superfluous, or of a kind that cannot be expressed.
    Operand(Fault),
    /// The operator is not supported.
    Operator(Fault),
    /// Shapes do not fit the operator or what the file declares.
    Shape(Fault),
    /// An initializer or a constant is not well formed, or of a type that is not read.
    Tensor(Fault),
    /// A field number that the ONNX schema does not have.
    UnknownField(Fault),
    /// The version of the format or of an operator set is not one that the importer knows.
    Version(Fault),
}

impl ImportError {
    /// The place, what was found and the way out.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Attribute(fault)
            | Self::Field(fault)
            | Self::Interface(fault)
            | Self::Limit(fault)
            | Self::Malformed(fault)
            | Self::Operand(fault)
            | Self::Operator(fault)
            | Self::Shape(fault)
            | Self::Tensor(fault)
            | Self::UnknownField(fault)
            | Self::Version(fault) => fault,
        }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault().fmt(f)
    }
}

impl std::error::Error for ImportError {}

/// A fault; to be handed to a constructor of [`ImportError`].
pub(crate) fn fault(place: &str, detail: impl Into<String>, way_out: impl Into<String>) -> Fault {
    Fault { place: place.to_owned(), detail: detail.into(), way_out: way_out.into() }
}
