//! A real convolutional network with a small region, closed at the root.

use crate::bundle::Said;
use crate::store::{self, Documents, Payload};
use certkern_core::num::Rational;
use certkern_wire::Limits;
use std::fs;
use std::path::Path;

/// The region of the instance is shrunk by this factor: of the whole nothing is known that closes at the root.
const SHRUNK: i64 = 16;

/// Writes the bundle: the network, the shrunk region of the property, and an output that stays above a number far below.
///
/// # Errors
/// What cannot be read, imported or written.
pub(crate) fn write(data: &Path, folder: &Path) -> Said<()> {
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let network = read(&data.join("onnx/cifar_deep_kw.onnx"))?;
    let imported = certkern_onnx::import(&network).map_err(|error| format!("{error:?}"))?;
    let name = "vnnlib/cifar_deep_kw-img4510-eps0.028235294117647063.vnnlib";
    let property = certkern_claims::read_property(name, &read(&data.join(name))?, &Limits::default());
    let property = property.map_err(|rejection| format!("{:?}", rejection.first()))?;
    let two = Rational::from_integer(2.into());
    let factor = Rational::from_integer((2 * SHRUNK).into());
    let ends = |outward: fn(Rational, Rational) -> Rational| {
        let pairs = property.lower.iter().zip(&property.upper);
        pairs.map(|(low, high)| outward((low + high) / &two, (high - low) / &factor).to_string()).collect::<Vec<_>>()
    };
    let text = store::property(&ends(|c, r| c - r), &ends(|c, r| c + r), property.outputs, "-1000");
    let documents = Documents {
        graph: &imported.graph,
        payload: Payload::File(&imported.payload),
        property: &text,
        certificate: r#"{"format": "certkern.leaves.v1", "trees": [0], "bounds": ["plain"]}"#,
        hints: None,
    };
    store::bundle(folder, &documents).map_err(|error| error.to_string())
}
