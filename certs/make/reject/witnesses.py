"""Cases of `witness.*`, and of other codes on a certificate of kind `witness`."""

from __future__ import annotations

from bundle import safetensors
from reject.case import Maker, accepted

MATMULS = "witness/two_matmuls"
SEVENTHS = "witness/sevenths"
SIGMOID_TANH = "witness/sigmoid_tanh"
AT_ZERO = "witness/tanh_at_zero"
CERTIFICATE = "cert.json"


def cases(make: Maker) -> None:
    """All cases of this module."""

    def point(code: str, name: str, sibling: str, old: str, new: str, words: str) -> None:
        make.text(code, name, sibling, CERTIFICATE, old, new, words)

    code = "witness.region"
    point(code, "by_a_hair", MATMULS, '"-1"', '"-1.00000001"', "a point outside the region by 10^-8")
    point(code, "far", MATMULS, '"-1"', '"-1e1000"', "a point far outside the region")
    point(code, "other_coordinate", SEVENTHS, '"1"', '"3/2"', "the second coordinate above its upper end")
    code = "witness.property"
    point(code, "safe", MATMULS, '"-1"', '"0"', "a point whose output is safe")
    point(
        code,
        "rounded",
        SEVENTHS,
        '"-4/7"',
        '"-0.5714285714285714"',
        "the point as the nearest binary64 spells it",
    )
    point(code, "one_row", SEVENTHS, '"-4/7"', '"-7/10"', "a point at which one of two rows fails")
    file, words = "property.json", "an open row for a closed one, bound again"
    last = '"6/7", "strict": false'
    make.text(code, "again_strict", SEVENTHS, file, last, last.replace("false", "true"), words, again=True)
    make.text(
        code,
        "again_bound",
        MATMULS,
        "property.vnnlib",
        "1.5",
        "2.00000001",
        "a bound 10^-8 above the output, bound again",
        again=True,
    )
    words = "an open row for a closed one that tanh 0 touches, bound again"
    make.text(code, "again_touching", AT_ZERO, file, "false", "true", words, again=True)
    old, new = "-0.5582313732", "-0.558231374243286582717"
    words = "a bound 10^-9 above an output of sigmoid and tanh, bound again"
    make.text(code, "again_billionth", SIGMOID_TANH, file, old, new, words, again=True)
    code = "witness.region"
    point(code, "sigmoid_tanh", SIGMOID_TANH, '"1/5"', '"1.00000001"', "a second coordinate outside by 10^-8")
    code, words = "witness.undecided", "a point at which both outputs are equal, which no ball shows"
    point(code, "equal_outputs", SIGMOID_TANH, '"1/5"', '"1/4"', words)
    point(
        "hint.shape",
        "witness_longer",
        MATMULS,
        '"-1", ',
        '"-1", "0", ',
        "a point of three coordinates for two",
    )
    point("hint.shape", "witness_shorter", MATMULS, '"-1", ', "", "a point of one coordinate for two")
    point(
        "json.unknown-key", "witness_output", MATMULS, '"x"', '"y": ["2"], "x"', "the output beside the point"
    )
    point("json.missing-key", "witness_point", MATMULS, ', "x": ["-1", "1"]', "", "without the point")
    point("json.number", "witness_nan", MATMULS, '"-1"', '"nan"', "a coordinate that is NaN")
    point("json.type", "witness_interval", MATMULS, '"-1"', '["-1", "0"]', "an interval for a coordinate")
    point(
        "bundle.format",
        "witness_of_leaves",
        MATMULS,
        "certkern.witness.v1",
        "certkern.leaves.v1",
        "the format of another kind",
    )
    make.text(
        "bind.payload",
        "witness_weight",
        SEVENTHS,
        "graph.json",
        "[[1, 1], [1, 0.5]]",
        "[[1, 1], [1, 0.25]]",
        "a weight of 1/4 for 1/2",
    )
    make.text(
        "bind.output", "witness_bound", MATMULS, "property.vnnlib", "1.5", "1.75", "a bound of 7/4 for 3/2"
    )
    manifest = '"certificate": "cert.json"'
    named = {
        "bundle.json": accepted(MATMULS)["bundle.json"].replace(
            manifest.encode(), (manifest + ', "hints": "cert.safetensors"').encode()
        )
    }
    make.files(
        "bundle.file",
        "witness_hints",
        MATMULS,
        named | {"cert.safetensors": safetensors({})},
        "hints for a witness",
    )
