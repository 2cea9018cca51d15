//! Rejections: reasons, each at a place.

use crate::reason::Reason;

/// Where a fault is: the document, the path in it, and for text the byte offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the file in the bundle, where it is known.
    pub file: Option<String>,
    /// The path to the value, such as `nodes[1].shape`; empty for the document itself.
    pub path: String,
    /// The byte offset in the file, for text.
    pub offset: Option<usize>,
}

/// One fault: a reason and a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub reason: Reason,
    /// Where it is.
    pub place: Place,
}

/// One or more faults (at most [`Rejection::MOST`]); the first decides the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    first: Box<Fault>,
    rest: Vec<Fault>,
}

impl Rejection {
    /// The most faults that are reported together.
    pub const MOST: usize = 100;

    /// A rejection with one fault.
    #[must_use]
    pub fn one(reason: Reason, place: Place) -> Self {
        Self { first: Box::new(Fault { reason, place }), rest: Vec::new() }
    }

    /// A rejection with all `faults` in the order of checking; `None` if there are none.
    #[must_use]
    pub fn of(faults: Vec<Fault>) -> Option<Self> {
        let mut faults = faults.into_iter().take(Self::MOST);
        let first = Box::new(faults.next()?);
        Some(Self { first, rest: faults.collect() })
    }

    /// The fault that decides the code.
    #[must_use]
    pub fn first(&self) -> &Fault {
        &self.first
    }

    /// All faults in the order of checking.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        std::iter::once(&*self.first).chain(&self.rest)
    }

    /// The same rejection with every fault changed by `change`.
    #[must_use]
    pub fn map(self, mut change: impl FnMut(Fault) -> Fault) -> Self {
        Self { first: Box::new(change(*self.first)), rest: self.rest.into_iter().map(change).collect() }
    }

    /// The same rejection with `file` written into every place that has none yet.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        for fault in std::iter::once(&mut *self.first).chain(&mut self.rest) {
            fault.place.file.get_or_insert_with(|| file.to_owned());
        }
        self
    }
}

impl Fault {
    /// A fault in a text at a path and a byte offset.
    #[must_use]
    pub fn at(reason: Reason, path: &str, offset: usize) -> Self {
        Self { reason, place: Place { file: None, path: path.to_owned(), offset: Some(offset) } }
    }
}

impl From<Fault> for Rejection {
    fn from(fault: Fault) -> Self {
        Self { first: Box::new(fault), rest: Vec::new() }
    }
}

impl From<Vec<Fault>> for Rejection {
    fn from(faults: Vec<Fault>) -> Self {
        Self::of(faults).unwrap_or_else(|| Reason::Internal("a rejection has a fault").into())
    }
}

impl From<Reason> for Rejection {
    fn from(reason: Reason) -> Self {
        Self::one(reason, Place::default())
    }
}

impl Place {
    /// A place that is a path in a document.
    #[must_use]
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }
}
