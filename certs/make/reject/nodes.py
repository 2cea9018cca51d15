"""Cases of kind `nodes`, and of the regions that are no boxes: bounds moved inward, bounds on too large a region, listings that fit no graph."""

from __future__ import annotations

from reject.case import HINTS, Maker, accepted, swapped

TRANSCRIPT, SLOPES, DISK = "nodes/transcript", "nodes/slopes", "nodes/disk"
BALL, DIAMOND, HALF = "bound/disk", "bound/diamond", "bound/half"
BOX = b'{"lo": [-1, -1], "hi": [1, 1]}\n'


def cases(make: Maker) -> None:
    """All cases of this module."""
    inward(make)
    listings(make)
    regions(make)
    outside(make)


def inward(make: Maker) -> None:
    """Bounds moved inward by little, each in one place."""

    def moved(name: str, old: str, new: str, words: str) -> None:
        make.text("leaf.unproved", f"nodes_{name}", TRANSCRIPT, "nodes.json", old, new, words, again=True)

    moved("ibp_lower", '2, "ibp": {"lo": [0, 0, 0]', '2, "ibp": {"lo": [1e-300, 0, 0]', "a lower bound of a relu above 0")
    moved("ibp_upper", '2, "ibp": {"lo": [0, 0, 0], "hi": [1, 2, 2]', '2, "ibp": {"lo": [0, 0, 0], "hi": [1, 1.9999999999999999999, 2]', "an upper bound of a relu below 2")
    moved("input", '0, "ibp": {"lo": [-1, -1]', '0, "ibp": {"lo": [-1, "-0x1.fffffffffffffp-1"]', "a bound of the input by one unit")
    moved("crown_constant", '"hiC": [0.5, 1, 1]', '"hiC": ["0x1.fffffffffffffp-2", 1, 1]', "the constant of an upper line by one unit")
    moved("crown_slope", '"hiA": [["1/2", 0]', '"hiA": [["1/3", 0]', "the slope of an upper line alone")
    moved("crown_lower", '"loA": [[0, 0.5], [-1, 0]]', '"loA": [[0, 0.5], [-1, 1e-9]]', "a lower form that a second input tilts")
    moved("crossed", '4, "ibp": {"lo": [-0.5, -1]', '4, "ibp": {"lo": [1.6, -1]', "a lower bound above the upper one")
    make.text("leaf.unproved", "nodes_other_input", TRANSCRIPT, "region.json", '"hi": [1, 1]', '"hi": [1, 1.01]', "a larger region", again=True)
    make.files("leaf.unproved", "nodes_without_slopes", SLOPES, {HINTS: None, "bundle.json": without_hints(SLOPES)}, "a line that the default slope does not give", again=True)
    make.text("bind.output", "nodes_tighter", TRANSCRIPT, "nodes.json", "1.5, 1]}}\n]}", "1.4, 1]}}\n]}", "another bound under the old digest")
    make.text("bind.output", "nodes_other", DISK, "nodes.json", '"id": 3', '"id": 4', "the bounds of another node under the old digest")


def without_hints(sibling: str) -> bytes:
    """The manifest of a bundle without hints."""
    return swapped(accepted(sibling)["bundle.json"], ',\n  "hints": "cert.safetensors"', "")


def listings(make: Maker) -> None:
    """Documents that bound nothing of this graph."""

    def listing(code: str, name: str, old: str, new: str, words: str) -> None:
        make.text(code, name, DISK, "nodes.json", old, new, words)

    def fitting(code: str, name: str, old: str, new: str, words: str) -> None:
        make.text(code, name, TRANSCRIPT, "nodes.json", old, new, words)

    listing("nodes.listing", "no_node", '"id": 3', '"id": 5', "a node that is not in the graph")
    listing("nodes.listing", "other_width", '"id": 3', '"id": 2', "two bounds for three coordinates")
    listing("nodes.listing", "uneven", "[-0.5, -1]", "[-0.5]", "fewer lower than upper bounds")
    listing("nodes.listing", "bare", ', "ibp": {"lo": [-0.5, -1], "hi": [1.2071067811865476, 1]}', "", "a node without bounds")
    fitting("nodes.listing", "twice", '{"id": 4', '{"id": 3', "a node twice")
    fitting("nodes.listing", "uneven_forms", '"hiC": ["1/2", 0]}', '"hiC": ["1/2"]}', "fewer constants than rows")
    make.files("nodes.listing", "empty", DISK, {"nodes.json": b'{"format": "certkern.nodes.v1", "nodes": []}\n'}, "no node")
    fitting("json.value", "crown_row", "[[0, 0.5], [-1, 0]]", "[[0, 0.5], [-1, 0, 0]]", "a row for three inputs of two")
    fitting("json.missing-key", "crown_half", '"hiA": [[0.5, 0.5], [-1, 0]], ', "", "no slopes of the upper form")
    listing("json.unknown-key", "nodes_alpha", '"id": 3', '"id": 3, "alpha": [0, 1]', "slopes in the bounds")
    listing("json.number", "node_named", '"id": 3', '"id": -3', "an id below zero")
    listing("json.type", "bounds_null", '{"lo": [-0.5, -1], "hi": [1.2071067811865476, 1]}', "null", "no bounds, as in a transcript")
    listing("bundle.format", "nodes_v2", "nodes.v1", "nodes.v2", "another version of the bounds")
    args = ("--property", "certs/dumps/small_relu/property.vnnlib")
    make.files("bundle.format", "nodes_property", DISK, {}, "against a property of the outputs, which it is not about", args=args)
    make.text("json.missing-key", "nodes_without_region", DISK, "bundle.json", '"region": "region.json",', "", "no region")
    make.text("tree.malformed", "nodes_trees", DISK, "cert.json", "[0, 0, 0, 0]", "[0, 0, 0]", "one tree less than bounds", again=True)


def regions(make: Maker) -> None:
    """Bounds that hold on a part of a box and not on all of it; regions that are none."""
    words = "bounds that hold on the ball, claimed for its box"
    make.files("leaf.unproved", "disk_as_box", BALL, {"region.json": BOX}, words, again=True)
    make.files("leaf.unproved", "diamond_as_box", DIAMOND, {"region.json": BOX}, words, again=True)
    make.files("leaf.unproved", "nodes_disk_as_box", DISK, {"region.json": BOX}, words, again=True)
    make.text("leaf.unproved", "diamond_as_disk", DIAMOND, "region.json", "l1", "l2", "bounds that hold for the 1-norm, claimed for the 2-norm", again=True)
    make.text("leaf.unproved", "disk_wider", BALL, "region.json", '"radius": "1"', '"radius": "1.0000001"', "a larger ball", again=True)
    make.text("leaf.unproved", "disk_upper", BALL, "bound.json", "1.2071067811865476", "1.2071067811865475", "an upper bound below 1/2 + sqrt(1/2), in the last digit", again=True)
    make.text("leaf.unproved", "disk_moved", BALL, "region.json", "[0, 0]", "[0.0000001, 0]", "another centre", again=True)
    make.text("leaf.unproved", "half_looser", HALF, "region.json", '"rhs": 0', '"rhs": 1e-9', "a looser constraint", again=True)
    make.text("leaf.unproved", "half_turned", HALF, "region.json", '"row": [1, 1]', '"row": [-1, -1]', "the other side of the constraint", again=True)
    make.text("leaf.unproved", "half_upper", HALF, "bound.json", "0.5, 1]", "0.49999999999999999, 1]", "an upper bound below the value 1/2", again=True)
    make.files("leaf.unproved", "half_without", HALF, {HINTS: None, "bundle.json": without_hints(HALF)}, "no multiplier for the constraint", again=True)
    make.files("hint.shape", "half_as_box", HALF, {"region.json": BOX}, "a multiplier for a constraint that is not there", again=True)
    make.text("bind.input", "disk_norm", BALL, "region.json", "l2", "l1", "another norm under the old digest")
    make.text("bind.input", "disk_radius", BALL, "region.json", '"radius": "1"', '"radius": "1/2"', "another radius under the old digest")
    make.text("bind.input", "half_rhs", HALF, "region.json", '"rhs": 0', '"rhs": -1', "another constraint under the old digest")
    make.files("bind.input", "half_as_box", HALF, {"region.json": BOX}, "no constraint under the old digest")
    make.files("bind.input", "disk_as_box", BALL, {"region.json": BOX}, "the box of the ball under the old digest")

    def region(code: str, name: str, text: str, words: str) -> None:
        make.files(code, name, BALL, {"region.json": text.encode()}, words)

    region("region.fields", "third_norm", '{"ball": "l3", "center": [0, 0], "radius": 1}', "a norm that is not read")
    region("region.fields", "ball_without_radius", '{"ball": "l2", "center": [0, 0]}', "a ball without a radius")
    region("region.fields", "radius_alone", '{"center": [0, 0], "radius": 1}', "a radius without a norm")
    region("region.fields", "ball_with_eps", '{"ball": "l2", "center": [0, 0], "radius": 1, "eps": 1}', "two radii")
    region("region.fields", "ball_with_ends", '{"ball": "l2", "center": [0, 0], "radius": 1, "lo": [0, 0], "hi": [1, 1]}', "a ball and ends")
    region("region.radius", "ball_negative", '{"ball": "l1", "center": [0, 0], "radius": "-1/3"}', "a negative radius")
    region("region.dimension", "ball_of_three", '{"dim": 3, "ball": "l1", "center": [0, 0], "radius": 1}', "another dimension")
    region("json.value", "constraint_of_three", '{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 1, 1], "rhs": 0}]}', "a constraint on three inputs of two")
    region("json.missing-key", "constraint_open", '{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 1]}]}', "a constraint without a right-hand side")
    region("json.unknown-key", "constraint_strict", '{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 1], "rhs": 0, "strict": true}]}', "an open constraint")


def outside(make: Maker) -> None:
    """What is named that lies outside the graph."""
    text = "argmax: the class is that of the larger output"
    make.text("json.value", "outside_empty", DISK, "bundle.json", text, "", "an empty text")
    make.text("json.value", "outside_long", DISK, "bundle.json", text, "a" * 401, "a text that would not be shown whole")
    make.text("json.type", "outside_number", DISK, "bundle.json", f'"{text}"', "1", "a number for a text")
