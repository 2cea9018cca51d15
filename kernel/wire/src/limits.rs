//! Budgets of the readers. A document beyond one is rejected with its name: it may be a good document, but nobody promised to read it.

use crate::reason::Reason;

/// What a reader may spend. The defaults leave room for every benchmark known to the authors and keep the worst document within
/// the memory and the minutes of one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `bytes`: bytes of one file. 4 GiB holds a network of a thousand million weights.
    pub bytes: usize,
    /// `hint-bytes`: bytes of the hints of a certificate, most of which are read by rows: they cost time and no memory.
    pub hint_bytes: usize,
    /// `json-bytes`: bytes of one JSON document. Bulk belongs in safetensors; a tree takes several times its text.
    pub json_bytes: usize,
    /// `json-depth`, `property-depth`: nesting of JSON values and of VNN-LIB expressions. No known document passes 20.
    pub depth: usize,
    /// `json-values`, `property-expressions`: values in one JSON document, expressions in one VNN-LIB command.
    pub json_values: usize,
    /// `digits`: digits of one number. An exact binary64 has at most 1075, and reading is quadratic.
    pub digits: usize,
    /// `exponent`: magnitude of a written exponent, decimal or binary. Binary64 ends at 324 and 1074.
    pub exponent: u32,
    /// `nodes`: nodes of a graph.
    pub nodes: usize,
    /// `elements`: elements of one tensor.
    pub elements: usize,
    /// `graph-elements`: elements of all values of a graph together, with the index maps that their meaning needs.
    pub graph_elements: usize,
    /// `rank`: axes of one tensor. Frameworks stop at 8 to 64; networks at 6.
    pub rank: usize,
    /// `variables`: input variables, and output variables, of a property; an end of many digits counts more (`number::excess`).
    pub variables: usize,
    /// `disjuncts`: disjuncts of an unsafe set, checked before a product of assertions is built.
    pub disjuncts: usize,
    /// `rows`: rows in all disjuncts together, checked likewise. A row counts once for each of its terms, and more where its numbers
    /// are long (`number::excess`), so that this bounds memory and time.
    pub rows: usize,
    /// `expression-nodes`: nodes of expressions.
    pub expression_nodes: usize,
    /// `expression-bits`: nodes of expressions times bits of precision, since the values of all nodes are alive at the same time; bits of all numbers of a
    /// query, and of an answer.
    pub expression_bits: usize,
    /// `precision`: bits of precision. The functions are computed by series whose cost grows faster than its square.
    pub precision: usize,
    /// `tree-nodes`: nodes of all split trees of a certificate.
    pub tree_nodes: usize,
    /// `tree-depth`: splits on one path of a tree; the scopes of a path are alive at the same time. Searches stay below 100.
    pub tree_depth: usize,
    /// `path-elements`: splits on the deepest path times the coordinates of the widest value: bounds and boxes of a path are alive at the same time.
    pub path_elements: usize,
    /// `tensors`: tensors in one safetensors file.
    pub tensors: usize,
    /// `header-bytes`: bytes of a safetensors header; 100 MB as in the format's own library.
    pub header_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 << 30,
            hint_bytes: 1 << 40,
            json_bytes: 256 << 20,
            depth: 64,
            json_values: 40_000_000,
            digits: 4096,
            exponent: 1100,
            nodes: 1_000_000,
            elements: 1 << 30,
            graph_elements: 1 << 22,
            rank: 16,
            variables: 10_000_000,
            disjuncts: 100_000,
            rows: 5_000_000,
            expression_nodes: 1 << 18,
            expression_bits: 1 << 27,
            precision: 1 << 13,
            tree_nodes: 100_000_000,
            tree_depth: 4096,
            path_elements: 1 << 21,
            tensors: 1_000_000,
            header_bytes: 100_000_000,
        }
    }
}

/// `Ok` if `used` is within `limit`, else the reason that names the budget.
///
/// # Errors
/// [`Reason::Limit`] if `used` is above `limit`.
pub fn within(name: &'static str, used: usize, limit: usize) -> Result<(), Reason> {
    if used <= limit {
        return Ok(());
    }
    Err(Reason::Limit { name, limit: u64::try_from(limit).unwrap_or(u64::MAX) })
}
