//! The matrix product of `torch.matmul`: a vector at the left is a row, one at the right a column, and its axis vanishes; the axes before the last two
//! broadcast. With a constant at one side it is a linear map; else its terms are products.

use super::contraction::{Factor, contract};
use super::{Arity, Operator, Refusal, Shapes, Site, broadcast_to, numbers, permute, selection};
use crate::attributes::Attributes;
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::LinearMap;
use certkern_core::program::NodeId;
use certkern_core::tensor::Tensor;

pub(super) const OPERATOR: Operator = Operator::new("matmul", Arity::Exactly(2), shape_rule, lower)
    .entries(|shapes, _| Matrices::new(shapes).ok()?.entries());

/// Both sides as matrices under a common batch.
struct Matrices {
    left: Vec<usize>,
    right: Vec<usize>,
    batch: Vec<usize>,
    rows: usize,
    inner: usize,
    columns: usize,
    /// Whether the axes of rows and of columns vanish.
    vector: (bool, bool),
}

impl Matrices {
    fn new(shapes: &Shapes) -> Result<Self, Refusal> {
        let (left, right) = (shapes.parent(0)?, shapes.parent(1)?);
        if left.is_empty() || right.is_empty() {
            return Err(Refusal::Shape("a parent is a scalar".to_owned()));
        }
        let vector = (left.len() == 1, right.len() == 1);
        let left: Vec<usize> = vector.0.then_some(1).into_iter().chain(left.iter().copied()).collect();
        let right: Vec<usize> = right.iter().copied().chain(vector.1.then_some(1)).collect();
        let ([first @ .., rows, inner], [second @ .., other, columns]) = (left.as_slice(), right.as_slice()) else {
            return Err(Refusal::Internal("a matrix without two axes"));
        };
        if inner != other {
            return Err(Refusal::Shape(format!("inner dims mismatch: {inner} vs {other}")));
        }
        let batch = broadcast_to::common(first, second)?;
        let (rows, inner, columns) = (*rows, *inner, *columns);
        Ok(Self { left, right, batch, rows, inner, columns, vector })
    }

    fn shape(&self) -> Vec<usize> {
        let rows = (!self.vector.0).then_some(self.rows);
        let columns = (!self.vector.1).then_some(self.columns);
        self.batch.iter().copied().chain(rows).chain(columns).collect()
    }

    /// The values of both sides under the whole batch, and the result three times. Terms of products are counted where they are made.
    fn entries(&self) -> Option<usize> {
        let batch = shape::elements(&self.batch)?;
        let sides = self.rows.checked_add(self.columns)?.checked_mul(self.inner)?;
        batch.checked_mul(self.rows.checked_mul(self.columns)?.checked_mul(3)?.checked_add(sides)?)
    }

    /// The shape of the batch followed by two axes.
    fn stacked(&self, rows: usize, columns: usize) -> Vec<usize> {
        self.batch.iter().copied().chain([rows, columns]).collect()
    }

    /// The left side under the whole batch, row by row.
    fn left_places(&self) -> Option<Vec<usize>> {
        broadcast_to::sources(&self.left, &self.stacked(self.rows, self.inner))
    }

    /// The right side under the whole batch, column by column.
    fn right_places(&self) -> Option<Vec<usize>> {
        let places = broadcast_to::sources(&self.right, &self.stacked(self.inner, self.columns))?;
        let turned = transposed(&self.stacked(self.inner, self.columns))?;
        turned.into_iter().map(|place| places.get(place).copied()).collect()
    }
}

/// The places of a stack of matrices, each transposed.
fn transposed(shape: &[usize]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    let last = order.len().checked_sub(1)?;
    order.swap(last.checked_sub(1)?, last);
    permute::sources(shape, &order)
}

fn shape_rule(shapes: &Shapes, _: &Attributes) -> Result<Vec<usize>, Refusal> {
    Matrices::new(shapes).map(|matrices| matrices.shape())
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [left, right] = parents else { return None };
    let own = Matrices::new(&site.shapes).ok()?;
    let (left_places, right_places) = (own.left_places()?, own.right_places()?);
    let batch = shape::elements(&own.batch)?;
    let (rows, inner, columns) = (own.rows, own.inner, own.columns);
    // A matrix that is the same throughout the batch stands in the constant once.
    if let Some(weight) = program.known(*right).and_then(|values| matrix(values, [columns, inner], &right_places)) {
        let left = program.arranged(*left, left_places)?;
        return program.linear(left, LinearMap::dense(&weight, batch.checked_mul(rows)?)?);
    }
    if let Some(weight) = program.known(*left).and_then(|values| matrix(values, [rows, inner], &left_places)) {
        let right = program.arranged(*right, right_places)?;
        let turned = program.linear(right, LinearMap::dense(&weight, batch.checked_mul(columns)?)?)?;
        return selection(&[turned], transposed(&own.stacked(columns, rows))?, program);
    }
    let mut factors = (Factor { node: *left, places: Vec::new() }, Factor { node: *right, places: Vec::new() });
    program.reserve(batch.checked_mul(rows)?.checked_mul(columns)?.checked_mul(inner)?)?;
    let matrices = left_places.chunks(rows.checked_mul(inner)?).zip(right_places.chunks(columns.checked_mul(inner)?));
    for (left, right) in matrices {
        for row in left.chunks(inner) {
            for column in right.chunks(inner) {
                factors.0.places.extend_from_slice(row);
                factors.1.places.extend_from_slice(column);
            }
        }
    }
    contract(factors.0, factors.1, inner, &numbers::one(), program)
}

/// The matrix of this shape whose entries stand at the first places of the constant; `None` if the constant has more.
fn matrix(values: &Tensor, shape: [usize; 2], places: &[usize]) -> Option<Tensor> {
    let length = shape::elements(&shape)?;
    if values.len() != length {
        return None;
    }
    let sources: Vec<Option<usize>> = places.iter().take(length).copied().map(Some).collect();
    crate::lowering::picked(values, shape.to_vec(), &sources)
}
