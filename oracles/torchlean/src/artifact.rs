//! What a document is: by its `format`, or by the members that it has.

use certkern_wire::json::{Json, Value};

/// The artifacts of TorchLean, and what goes with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Artifact {
    /// The answer of the Arb oracle.
    ArbAnswer,
    /// A question to the Arb oracle.
    ArbRequest,
    /// `torchlean.bound.v1`.
    Bound,
    /// `torchlean.camera.box3d.*`.
    Camera,
    /// `crown_query_v1`.
    CrownQuery,
    /// A graph, `torchlean.ir.v1` or `certkern.ir.v1`.
    Graph,
    /// `abcrown_leaf_artifact_v0_1`.
    Leaves,
    /// Bounds by IBP, as the scripts for LiRPA write them.
    Lirpa,
    /// `robust_margin_cert_v0_1`.
    Margin,
    /// `monotonicity_v1`.
    Monotonicity,
    /// A corridor of an ordinary differential equation.
    OdeCorridor,
    /// Residual bounds of a physics-informed network.
    PinnCertificate,
    /// Points for a physics-informed network.
    PinnDataset,
    /// A summary of LeanProfiler.
    Profile,
    /// Leaves without a format.
    RawLeaves,
    /// `piecewise_poly_v0`.
    Spline,
    /// Weights by name.
    StateDictionary,
    /// Bounds of every node.
    Transcript,
    /// `vnnlib_suite_v0_1` and the slopes that go with it.
    VnnCompSuite,
}

impl Artifact {
    /// What a document is; `None` if it is nothing known.
    #[must_use]
    pub fn of(document: &Json) -> Option<Self> {
        let members = document.members("").ok()?;
        let get = |key: &str| members.iter().find(|(own, _)| own == key).map(|(_, json)| json);
        let has = |keys: &[&str]| keys.iter().all(|key| get(key).is_some());
        let format = match get("format").map(|json| &json.value) {
            Some(Value::String(format)) => &**format,
            _ => "",
        };
        let by_format = match format {
            "abcrown_leaf_artifact_v0_1" => Self::Leaves,
            "certkern.ir.v1" | "torchlean.ir.v1" => Self::Graph,
            "crown_query_v1" => Self::CrownQuery,
            "mnist_fc_crownobj_alpha_v0_1" | "vnnlib_suite_v0_1" => Self::VnnCompSuite,
            "monotonicity_v1" => Self::Monotonicity,
            "piecewise_poly_v0" => Self::Spline,
            "robust_margin_cert_v0_1" => Self::Margin,
            "torchlean.bound.v1" => Self::Bound,
            "torchlean.camera.box3d.v1" | "torchlean.camera.box3d.v2" => Self::Camera,
            _ if has(&["graph", "input_box", "result"]) => Self::Lirpa,
            _ if has(&["rhs", "segments"]) => Self::OdeCorridor,
            _ if has(&["pinn", "model"]) => Self::PinnCertificate,
            _ if has(&["ctx", "ibp"]) => Self::Transcript,
            _ if has(&["root", "domains"]) => Self::RawLeaves,
            _ if has(&["tool", "ctx", "output"]) => Self::ArbAnswer,
            _ if has(&["kind", "func", "lo", "hi"]) || has(&["kind", "expr"]) => Self::ArbRequest,
            _ if has(&["schema_version", "rows"]) => Self::Profile,
            _ if has(&["params"]) || members.iter().any(|(key, _)| key.starts_with("layers.")) => Self::StateDictionary,
            _ if has(&["boundary"]) || has(&["collocation"]) => Self::PinnDataset,
            _ => return None,
        };
        Some(by_format)
    }

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ArbAnswer => "an answer of the Arb oracle",
            Self::ArbRequest => "a request for the Arb oracle",
            Self::Bound => "a torchlean.bound.v1",
            Self::Camera => "a torchlean.camera.box3d",
            Self::CrownQuery => "a crown_query_v1",
            Self::Graph => "a graph",
            Self::Leaves => "an abcrown_leaf_artifact_v0_1",
            Self::Lirpa => "a LiRPA IBP certificate",
            Self::Margin => "a robust_margin_cert_v0_1",
            Self::Monotonicity => "a monotonicity_v1",
            Self::OdeCorridor => "an ODE corridor",
            Self::PinnCertificate => "a PINN residual certificate",
            Self::PinnDataset => "a PINN dataset",
            Self::Profile => "a summary of LeanProfiler",
            Self::RawLeaves => "a raw leaf dump",
            Self::Spline => "a piecewise_poly_v0",
            Self::StateDictionary => "a state dictionary",
            Self::Transcript => "a node transcript",
            Self::VnnCompSuite => "a suite of VNN-COMP instances",
        }
    }

    /// Whether it can become a certificate.
    #[must_use]
    pub fn is_convertible(self) -> bool {
        self.without_claim().is_none()
    }

    /// Why it cannot become a certificate; `None` if it can.
    #[must_use]
    pub fn without_claim(self) -> Option<&'static str> {
        Some(match self {
            Self::Bound | Self::CrownQuery | Self::Leaves | Self::Lirpa | Self::Margin | Self::Monotonicity => {
                return None;
            }
            Self::ArbAnswer | Self::ArbRequest => {
                "request and answer together become an enclosure: python3 -m certkern_oracles.enclosure request.json answer.json -o claim.json"
            }
            Self::Camera => {
                "certkern has no claim for projected boxes yet, and its `tol` is a tolerance, which no certificate has here"
            }
            Self::Graph => "certkern reads it as it is: certkern check FILE",
            Self::OdeCorridor => {
                "certkern has no claim for corridors yet, and `settings.slack` is a tolerance, which no certificate has here"
            }
            Self::PinnCertificate => {
                "certkern has no claim for residuals yet, and this one speaks of single points alone"
            }
            Self::PinnDataset => "points and values claim nothing",
            Self::Profile => "times of a program claim nothing that can be checked",
            Self::RawLeaves => {
                "it has no format: TorchLean's scripts/verification/abcrown/export_leaf_artifact.py makes an abcrown_leaf_artifact_v0_1 of it, which can be imported"
            }
            Self::Spline => "certkern has no claim for splines yet",
            Self::StateDictionary => {
                "it holds numbers without a graph, and claims nothing: export the module itself (docs/pytorch.md) or import it from ONNX (certkern import onnx)"
            }
            Self::Transcript => {
                "certkern has no claim for bounds of every node yet, and the transcript does not name its network"
            }
            Self::VnnCompSuite => {
                "its network lies elsewhere: import the ONNX file and give the VNN-LIB property of each instance"
            }
        })
    }

    /// The options that it needs, and those that it has a use for beside these.
    pub(crate) fn options(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Bound => (&["--graph", "--region"], &["--payload"]),
            Self::Leaves => (&["--graph", "--property"], &["--payload"]),
            Self::Lirpa => (&["--graph"], &["--payload"]),
            Self::Margin => (&["--weights", "--dataset", "--example"], &["--claim"]),
            _ => (&[], &[]),
        }
    }

    /// What it states and its certificate does not hold.
    pub(crate) fn dropped(self) -> &'static str {
        match self {
            Self::Leaves => {
                "`lb`, `threshold`, `witness_idx` and `witness_margin` are claims that the kernel does not read: it bounds every leaf afresh, against the property"
            }
            Self::Lirpa => "`graph` is a label that binds nothing: the bounds are claimed of the graph that was given",
            Self::Margin => "`pred` and `summary` are claims about other runs that no certificate holds",
            _ => "",
        }
    }
}
