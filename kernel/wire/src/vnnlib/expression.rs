//! S-expressions: one command at a time, its lists and atoms in an arena, without recursion.

use crate::limits::{Limits, within};
use crate::reason::{Fault, Reason};

/// The place of an expression in its command. A list stands before everything inside it.
pub(super) type Id = usize;

/// An atom, or a list of expressions.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    /// A name, a number or an operator.
    Atom(&'a str),
    /// A list.
    List(Vec<Id>),
}

/// One outermost list with everything inside; the list itself is expression 0.
#[derive(Debug)]
pub(super) struct Command<'a> {
    expressions: Vec<(Kind<'a>, usize)>,
}

impl<'a> Command<'a> {
    /// Expression `id` and its byte offset.
    pub(super) fn get(&self, id: Id) -> (&Kind<'a>, usize) {
        self.expressions.get(id).map_or((&Kind::Atom(""), 0), |(kind, offset)| (kind, *offset))
    }

    /// All expressions from the last to the first, so that what is inside comes before what it is in.
    pub(super) fn inside_out(&self) -> impl Iterator<Item = (Id, &Kind<'a>, usize)> {
        self.expressions.iter().enumerate().rev().map(|(id, (kind, offset))| (id, kind, *offset))
    }

    /// The number of expressions.
    pub(super) fn len(&self) -> usize {
        self.expressions.len()
    }

    /// The items of the command, its name among them.
    pub(super) fn arguments(&self) -> &[Id] {
        match self.get(0).0 {
            Kind::List(items) => items,
            Kind::Atom(_) => &[],
        }
    }

    /// The name of the command.
    pub(super) fn head(&self) -> Option<&'a str> {
        match self.get(*self.arguments().first()?).0 {
            Kind::Atom(name) => Some(name),
            Kind::List(_) => None,
        }
    }

    /// The byte offset of the command.
    pub(super) fn offset(&self) -> usize {
        self.get(0).1
    }
}

/// Reads commands from the bytes of a file.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether a name takes the brackets after it along, and a text in quotation marks is an atom.
    pub(super) tensors: bool,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, tensors: false }
    }

    /// The next command; `None` at the end of the file.
    pub(super) fn command(&mut self, limits: &Limits) -> Result<Option<Command<'a>>, Fault> {
        let mut expressions: Vec<(Kind<'a>, usize)> = Vec::new();
        let mut open: Vec<Id> = Vec::new();
        loop {
            let next = self.skip();
            let offset = self.at;
            let fault = |reason| Fault::at(reason, "", offset);
            let kind = match next {
                None if open.is_empty() => return Ok(None),
                None => return Err(fault(Reason::PropertySyntax("the file ends inside a list"))),
                Some(b')') => {
                    self.at = offset.saturating_add(1);
                    if open.pop().is_none() {
                        return Err(fault(Reason::PropertySyntax("`)` without `(`")));
                    }
                    if open.is_empty() {
                        return Ok(Some(Command { expressions }));
                    }
                    continue;
                }
                Some(b'(') => {
                    self.at = offset.saturating_add(1);
                    Kind::List(Vec::new())
                }
                Some(_) if open.is_empty() => return Err(fault(Reason::PropertySyntax("expected `(`"))),
                Some(_) => Kind::Atom(self.atom().ok_or_else(|| fault(Reason::PropertySyntax("unknown character")))?),
            };
            let id = expressions.len();
            within("property-expressions", id, limits.json_values).map_err(fault)?;
            if let Some((Kind::List(items), _)) = open.last().and_then(|parent| expressions.get_mut(*parent)) {
                items.push(id);
            }
            if matches!(kind, Kind::List(_)) {
                open.push(id);
                within("property-depth", open.len(), limits.depth).map_err(fault)?;
            }
            expressions.push((kind, offset));
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Steps over white space and comments, which run from `;` to the first line feed or carriage return (SMT-LIB 2.6, section 3.1); the byte
    /// that stands there.
    fn skip(&mut self) -> Option<u8> {
        loop {
            let skipped = match self.rest() {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
                [b';', rest @ ..] => rest.iter().take_while(|b| !matches!(b, b'\n' | b'\r')).count().saturating_add(1),
                rest => return rest.first().copied(),
            };
            self.at = self.at.saturating_add(skipped);
        }
    }

    /// Reads the longest run of visible ASCII characters that mean nothing else; `None` if there is none.
    fn atom(&mut self) -> Option<&'a str> {
        let brackets = self.tensors;
        let plain = |b: &u8| {
            b.is_ascii_graphic()
                && !matches!(b, b'(' | b')' | b';' | b'"' | b'|')
                && !(brackets && matches!(b, b'[' | b']' | b','))
        };
        let length = match self.rest() {
            [b'"', rest @ ..] if self.tensors => rest
                .iter()
                .position(|b| *b == b'"')
                .filter(|end| !rest.iter().take(*end).any(|b| *b == b'\\'))?
                .checked_add(2)?,
            rest => {
                let name = rest.iter().take_while(|b| plain(b)).count();
                name.checked_add(if self.tensors && name > 0 { bracketed(rest.get(name..)?) } else { 0 })?
            }
        };
        let atom = self.rest().get(..length).filter(|atom| !atom.is_empty())?;
        self.at = self.at.saturating_add(length);
        std::str::from_utf8(atom).ok()
    }
}

/// The length of white space and a list in brackets at the start; 0 if there is none.
fn bracketed(bytes: &[u8]) -> usize {
    let space = bytes.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
    let list = match bytes.get(space..) {
        Some([b'[', rest @ ..]) => rest,
        _ => return 0,
    };
    let inside =
        list.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',')).count();
    if list.get(inside) == Some(&b']') { space.saturating_add(inside).saturating_add(2) } else { 0 }
}
