"""Cases of kind `bound`: bounds that are false or bound to nothing, regions that are none."""

from __future__ import annotations

from reject.case import Case, Maker, accepted

RAMP, AROUND = "bound/ramp", "bound/around"


def cases(make: Maker) -> None:
    """All cases of this module."""
    make.text("leaf.unproved", "bound_upper", RAMP, "bound.json", "1.5", "1.499999999999999", "an upper bound below the value 3/2", again=True)
    make.text("leaf.unproved", "bound_lower", RAMP, "bound.json", "-0.5", "-0.4999999999999999", "a lower bound above the value -1/2", again=True)
    make.text("leaf.unproved", "bound_region", RAMP, "region.json", '"hi": [1,', '"hi": [1.1,', "a larger region", again=True)
    make.text("bind.output", "bound_wider", RAMP, "bound.json", "1.5", "1.6", "another bound under the old digest")
    make.text("bind.input", "bound_region", RAMP, "region.json", '"lo": [-1,', '"lo": [-0.5,', "another region under the old digest")
    make.text("bound.order", "crossed", RAMP, "bound.json", "1.5", "-0.6", "an upper bound below its lower bound")
    make.cases.append(Case("bound.unbound", "alone", RAMP, "the bounds alone, with nothing that they are about", accepted(RAMP)["bound.json"]))
    scalar = b'{"format": "torchlean.bound.v1", "lower": 0.12, "upper": 0.31}\n'
    make.cases.append(Case("bound.unbound", "three_fields", RAMP, "three fields, as they are met in the wild", scalar))
    make.cases.append(Case("bound.order", "three_fields", RAMP, "three fields, crossed", scalar.replace(b"0.12", b"0.32")))
    wide = '{"format": "torchlean.bound.v1", "lower": [-0.5], "upper": [1.5]}'
    make.files("property.widths", "bound_of_one", RAMP, {"bound.json": wide.encode()}, "bounds of one output of two", again=True)
    make.text("json.value", "bounds_of_two_lengths", RAMP, "bound.json", "[1.5, 1]", "[1.5, 1, 1]", "more upper than lower bounds")
    make.text("bundle.format", "bound_v2", RAMP, "bound.json", "bound.v1", "bound.v2", "another version of the bounds")
    make.text("tree.malformed", "bound_trees", RAMP, "cert.json", "[0, 0, 0, 0]", "[0, 0, 0]", "one tree less than bounds", again=True)
    make.text("json.missing-key", "bound_without_region", RAMP, "bundle.json", '"region": "region.json",', "", "no region")
    norm = (
        '{"id": 4, "kind": "batch_norm_eval", "parents": [3], "shape": [2], "channel_axis": 0, "eps": 1e-300, '
        '"gamma": [1e308, 1e-308], "beta": [0, 0], "mean": [1e308, 1e-308], "var": [0, 0]}'
    )
    detach = '{"id": 4, "kind": "detach", "parents": [3], "shape": [2]}'
    words = "a batch norm whose numbers lie too far apart"
    make.text("limit.coefficient-bits", "batch_norm", RAMP, "graph.json", detach, norm, words, again=True)
    regions(make)


def regions(make: Maker) -> None:
    """Regions that TorchLean's reader refuses too, and more."""

    def region(code: str, name: str, text: str, words: str) -> None:
        make.files(code, name, AROUND, {"region.json": text.encode()}, words)

    region("region.fields", "lo_alone", '{"lo": [-1, -1]}', "lower ends alone")
    region("region.fields", "hi_alone", '{"hi": [1, 1]}', "upper ends alone")
    region("region.fields", "center_alone", '{"center": [0, 0]}', "a centre without a radius")
    region("region.fields", "eps_alone", '{"eps": 1}', "a radius without a centre")
    region("region.fields", "both", '{"lo": [-1, -1], "hi": [1, 1], "eps": 1}', "ends and a radius")
    region("region.fields", "lo_and_ball", '{"lo": [-1, -1], "center": [0, 0], "eps": 1}', "lower ends and a ball")
    region("region.fields", "neither", "{}", "nothing")
    region("region.dimension", "three", '{"dim": 3, "lo": [-1, -1], "hi": [1, 1]}', "another dimension")
    region("region.radius", "negative", '{"center": [0, 0], "eps": -0.5}', "a negative radius")
    region("property.empty-region", "crossed_ends", '{"lo": [0.5, 0], "hi": [0.2, 1]}', "an end above its upper end")
    region("json.value", "ends_of_two_lengths", '{"lo": [-1, -1], "hi": [1]}', "fewer upper than lower ends")
    region("json.duplicate-key", "eps_twice", '{"center": [0, 0], "eps": 0.1, "eps": 1}', "a radius twice")
    region("json.syntax", "infinite_end", '{"lo": [-1, -1], "hi": [1, Infinity]}', "an infinite end")
    region("property.widths", "no_input", '{"lo": [], "hi": []}', "a region without coordinates")
