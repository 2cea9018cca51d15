//! The bytes of safetensors files.

use certkern_onnx::{Dtype, write_safetensors};

#[test]
fn tensors_stand_in_the_order_of_their_names_without_padding() {
    let first = ("10.bias".to_owned(), Dtype::F64, vec![1], 2.0_f64.to_le_bytes().to_vec());
    let second = ("2.rows".to_owned(), Dtype::U32, vec![2], vec![1, 0, 0, 0, 2, 0, 0, 0]);
    let third = ("2.kind".to_owned(), Dtype::U8, vec![1, 1], vec![7]);
    let fourth = ("2.none".to_owned(), Dtype::F32, vec![0], vec![]);
    let header = concat!(
        r#"{"10.bias":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"#,
        r#""2.kind":{"dtype":"U8","shape":[1,1],"data_offsets":[8,9]},"#,
        r#""2.none":{"dtype":"F32","shape":[0],"data_offsets":[9,9]},"#,
        r#""2.rows":{"dtype":"U32","shape":[2],"data_offsets":[9,17]}}"#
    );
    let mut expected = (header.len() as u64).to_le_bytes().to_vec();
    expected.extend_from_slice(header.as_bytes());
    expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x40, 7, 1, 0, 0, 0, 2, 0, 0, 0]);
    let orders = [[first.clone(), second.clone(), third.clone(), fourth.clone()], [fourth, third, second, first]];
    for tensors in orders {
        assert_eq!(write_safetensors(&tensors), expected);
    }
}
