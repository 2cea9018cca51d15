//! `torch.nn.MultiheadAttention` in evaluation, batch first: `softmax(scale·q kᵀ) v` for each head, between linear maps. Its value is a tuple, of which
//! only the output is read.

use super::contraction::{Factor, contract};
use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, linear, numbers, softmax, window};
use crate::attributes::{Attributes, flag, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::program::NodeId;

/// The spelling, which the reader knows as that of the one operator whose value is a tuple.
pub(crate) const KIND: &str = "multihead_attention";

pub(super) const OPERATOR: Operator = Operator::new(KIND, Arity::Exactly(3), shape_rule, lower)
    .attributes(&[number("embed_dim"), number("num_heads"), flag("batch_first"), flag("dropout_zero"), flag("bias")])
    .attribute_rule(attribute_rule)
    .payload(&[
        PayloadField { name: "q_weight", shape: square },
        PayloadField { name: "k_weight", shape: square },
        PayloadField { name: "v_weight", shape: square },
        PayloadField { name: "out_weight", shape: square },
        PayloadField { name: "q_bias", shape: vector },
        PayloadField { name: "k_bias", shape: vector },
        PayloadField { name: "v_bias", shape: vector },
        PayloadField { name: "out_bias", shape: vector },
        numbers::number("scale"),
    ])
    .entries(|shapes, attributes| {
        let softmax = softmax::entries(&scores_shape(shapes, attributes)?, 3)?;
        softmax.checked_add(shape::elements(shapes.declared)?.checked_mul(8)?)
    });

fn square(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    Ok(vec![attributes.number("embed_dim")?; 2])
}

fn vector(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    Ok(vec![attributes.number("embed_dim")?])
}

fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    window::above_zero(attributes, &["embed_dim", "num_heads"])?;
    let (embed, heads) = (attributes.number("embed_dim")?, attributes.number("num_heads")?);
    if !embed.is_multiple_of(heads) {
        return Err(Refusal::Attribute("num_heads", format!("{heads} heads do not divide `embed_dim` {embed}")));
    }
    for name in ["batch_first", "dropout_zero"] {
        if !attributes.flag(name)? {
            return Err(Refusal::Attribute(name, "only true is read".to_owned()));
        }
    }
    Ok(())
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (query, key, value) = (shapes.parent(0)?, shapes.parent(1)?, shapes.parent(2)?);
    let embed = attributes.number("embed_dim")?;
    let fits = |shape: &[usize]| shape.len() == 3 && shape.last() == Some(&embed) && shape.first() == query.first();
    if [query, key, value].into_iter().all(fits) && key == value {
        return Ok(query.to_vec());
    }
    let shapes = [query, key, value].map(shape::text);
    Err(Refusal::Shape(format!("the parents' shapes {shapes:?} are not [batch, sequence, {embed}] as they must be")))
}

/// `[batch, heads, queries, keys]`.
fn scores_shape(shapes: &Shapes, attributes: &Attributes) -> Option<Vec<usize>> {
    let ([batch, queries, _], [_, keys, _]) = (shapes.parent(0).ok()?, shapes.parent(1).ok()?) else { return None };
    Some(vec![*batch, attributes.number("num_heads").ok()?, *queries, *keys])
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let ([q_weight, k_weight, v_weight, out_weight, q_bias, k_bias, v_bias, out_bias, scale], [query, key, value]) =
        (site.payload, parents)
    else {
        return None;
    };
    let query = linear::apply(q_weight, q_bias, *query, program)?;
    let key = linear::apply(k_weight, k_bias, *key, program)?;
    let value = linear::apply(v_weight, v_bias, *value, program)?;
    let scores_shape = scores_shape(&site.shapes, site.attributes)?;
    let [batch, heads, queries, keys] = *scores_shape.as_slice() else { return None };
    let width = site.attributes.number("embed_dim").ok()?.checked_div(heads)?;
    let terms = shape::elements(&scores_shape)?.checked_mul(width)?;
    program.reserve(terms.checked_mul(2)?)?;
    // The strides of `[batch, sequence, heads, width]`.
    let strides = |sequence: usize| <[usize; 4]>::try_from(shape::strides(&[batch, sequence, heads, width])?).ok();
    let ([b, t, h, d], [kb, s, kh, kd]) = (strides(queries)?, strides(keys)?);
    // Terms of scores run over `[batch, heads, queries, keys, width]`, of sums of values over `[batch, queries, heads, width, keys]`.
    let axes = |strides: [usize; 5]| [batch, heads, queries, keys, width].into_iter().zip(strides);
    let left = Factor { node: query, places: shape::offsets(axes([b, h, t, 0, d]))? };
    let right = Factor { node: key, places: shape::offsets(axes([kb, kh, 0, s, kd]))? };
    let scores = contract(left, right, width, &scale.get(0)?, program)?;
    let shares = softmax::along(scores, &scores_shape, 3, None, program)?;
    let [pb, ph, pt, ps] = *shape::strides(&scores_shape)?.as_slice() else { return None };
    let axes = |strides: [usize; 5]| [batch, queries, heads, width, keys].into_iter().zip(strides);
    let left = Factor { node: shares, places: shape::offsets(axes([pb, pt, ph, 0, ps]))? };
    let right = Factor { node: value, places: shape::offsets(axes([kb, 0, kh, kd, s]))? };
    let heads = contract(left, right, keys, &numbers::one(), program)?;
    linear::apply(out_weight, out_bias, heads, program)
}
