"""Cases of `bundle.*` and `bind.*`."""

from __future__ import annotations

import json

from bundle import elements, tensor
from digests import Tensor
from reject.case import PAYLOAD, Maker, accepted, manifest_digest

SMALL = "small_relu"
SHARED = "shared_tree"
DUMP = "certs/dumps/small_relu"
ROLES = ["graph", "payload", "input", "output"]


def cases(make: Maker) -> None:
    """All cases of this module."""
    manifests(make)
    digests(make)
    documents(make)
    own_files(make)


def manifests(make: Maker) -> None:
    """`bundle.format` and `bundle.file`."""
    code = "bundle.format"
    for name, file, old, new, words in [
        ("version", "bundle.json", "certkern.bundle.v1", "certkern.bundle.v2", "a later format of bundles"),
        ("kind", "bundle.json", '"leaves"', '"leaf"', "an unknown kind"),
        ("kind_capital", "bundle.json", '"leaves"', '"Leaves"', "a kind with a capital letter"),
        (
            "certificate",
            "cert.json",
            "certkern.leaves.v1",
            "certkern.leaves.v2",
            "a later format of certificates",
        ),
        (
            "property",
            "property.json",
            "certkern.property.v1",
            "certkern.property.v2",
            "a later format of properties",
        ),
    ]:
        make.text(code, name, SHARED, file, old, new, words)
    code = "bundle.file"
    for role, file in json.loads(accepted(SHARED)["bundle.json"])["files"].items():
        make.files(code, f"no_{role}", SHARED, {file: None}, f"without {file}")
    make.files(code, "no_manifest", SHARED, {"bundle.json": None}, "without bundle.json")
    make.files(
        code, "stranger", SHARED, {"notes.txt": b"verified\n"}, "a file that the manifest does not name"
    )
    make.files(code, "hidden", SHARED, {".notes": b"verified\n"}, "a hidden file")
    make.files(code, "folder", SHARED, {"more/notes.txt": b"verified\n"}, "a folder in the bundle")
    make.text(
        code,
        "twice",
        SHARED,
        "bundle.json",
        '"certificate": "cert.json"',
        '"certificate": "property.json"',
        "one file for two roles",
    )
    make.text(
        code,
        "manifest_itself",
        SHARED,
        "bundle.json",
        '"certificate": "cert.json"',
        '"certificate": "bundle.json"',
        "the manifest as the certificate",
    )
    make.text(
        code,
        "outside",
        SHARED,
        "bundle.json",
        '"graph": "graph.json"',
        '"graph": "../shared_tree/graph.json"',
        "a path that leaves the folder",
    )
    make.text(
        code,
        "dot",
        SHARED,
        "bundle.json",
        '"graph": "graph.json"',
        '"graph": "./graph.json"',
        "another spelling of the name",
    )
    make.text(
        code,
        "hints_not_named",
        SHARED,
        "bundle.json",
        ',\n           "certificate": "cert.json", "hints": "cert.safetensors"',
        ',\n           "certificate": "cert.json"',
        "hints that the manifest does not name",
    )


def digests(make: Maker) -> None:
    """`bundle.digest`, and digests of the manifest that are not those of the documents."""
    code = "bundle.digest"
    digest = manifest_digest(SHARED, "graph")
    for name, new, words in [
        ("capital", digest.upper(), "a digest in capital letters"),
        ("short", digest[:-1], "a digest of 63 digits"),
        ("long", digest + "0", "a digest of 65 digits"),
        ("prefix", "sha256:" + digest, "a digest with a prefix"),
        ("letter", "g" + digest[1:], "a digit that is not hexadecimal"),
        ("empty", "", "no digits"),
    ]:
        make.text(code, name, SHARED, "bundle.json", digest, new, words)
    for role in ROLES:
        digest = manifest_digest(SHARED, role)
        other = "1" if digest[-1] == "0" else "0"
        make.text(
            f"bind.{role}",
            "digest",
            SHARED,
            "bundle.json",
            digest,
            digest[:-1] + other,
            f"the last digit of the digest of the {role}",
        )
        make.text(
            f"bind.{role}",
            "zeros",
            SHARED,
            "bundle.json",
            digest,
            "0" * 64,
            f"zeros for the digest of the {role}",
        )
    graph, payload = manifest_digest(SHARED, "graph"), manifest_digest(SHARED, "payload")
    text = accepted(SHARED)["bundle.json"].decode()
    content = text.replace(graph, "#").replace(payload, graph).replace("#", payload)
    make.files(
        "bind.graph",
        "roles_swapped",
        SHARED,
        {"bundle.json": content.encode()},
        "the digests of graph and payload swapped",
    )


def documents(make: Maker) -> None:
    """Documents changed under the digests."""

    def text(role: str, name: str, file: str, old: str, new: str, words: str, sibling: str = SHARED) -> None:
        make.text(f"bind.{role}", name, sibling, file, old, new, words)

    text(
        "graph",
        "relu_to_detach",
        "graph.json",
        '{"id": 4, "kind": "relu"',
        '{"id": 4, "kind": "detach"',
        "the last relu is a detach",
    )
    text(
        "graph",
        "layer_skipped",
        "graph.json",
        '"parents": [3]',
        '"parents": [1]',
        "the last relu reads the first layer",
    )
    text(
        "graph", "outputs", "graph.json", '"output_ids": [5]', '"output_ids": [4]', "the last relu as output"
    )
    text(
        "payload",
        "weight",
        "graph.json",
        "[[1, 1], [1, 0.5]]",
        "[[1, 1], [1, 0.25]]",
        "a weight of 1/4 for 1/2",
    )
    text(
        "payload",
        "negative_zero",
        "graph.json",
        '[1, 0.5]], "bias": [0, 0]',
        '[1, 0.5]], "bias": [-0.0, 0]',
        "a bias of -0 for 0",
    )
    text(
        "payload",
        "last_bit",
        "graph.json",
        "[1, 0.5]",
        "[1, 0.50000000000000011102230246251565]",
        "the last bit of a weight",
    )

    def wider(tensors: dict[str, Tensor]) -> None:
        old = tensors["1.weight"]
        tensors["1.weight"] = tensor("F64", old.shape, elements(old))

    make.tensors("bind.payload", "wider_type", SMALL, PAYLOAD, wider, "the same weights as binary64")

    def last_bit(tensors: dict[str, Tensor]) -> None:
        old = tensors["1.weight"]
        tensors["1.weight"] = Tensor(old.dtype, old.shape, bytes([old.data[0] ^ 1]) + old.data[1:])

    make.tensors(
        "bind.payload",
        "last_bit_in_file",
        SMALL,
        PAYLOAD,
        last_bit,
        "the last bit of a weight in the payload file",
    )

    def moved(tensors: dict[str, Tensor]) -> None:
        old = tensors["1.weight"]
        values = elements(old)
        tensors["1.weight"] = tensor(old.dtype, old.shape, [*values[2:], *values[:2]])

    make.tensors("bind.payload", "rows_moved", SMALL, PAYLOAD, moved, "the rows of a weight moved by one")
    text("input", "smaller", "property.json", '["-1", -1]', '["-1", "-0.99"]', "a lower end of -0.99 for -1")
    text(
        "input",
        "larger",
        "property.json",
        '"upper": [1,',
        '"upper": [1.000000000000000001,',
        "an upper end above 1 by 10^-18",
    )
    text(
        "input",
        "vnnlib",
        "property.vnnlib",
        "(assert (<= X_0 1))",
        "(assert (<= X_0 0.5))",
        "an upper bound of 1/2 for 1",
        SMALL,
    )
    text(
        "output",
        "bound",
        "property.json",
        '"-9/4"',
        '"-2.25000000000000000001"',
        "a bound below -9/4 by 10^-20",
    )
    text("output", "strict", "property.json", '"strict": true', '"strict": false', "an open row is closed")
    text("output", "coefficient", "property.json", '{"0": "1"}', '{"0": "2"}', "a coefficient of 2 for 1")
    text("output", "other_output", "property.json", '{"y": {"0": -1}', '{"y": {"1": -1}', "the other output")
    first, second = (
        '{"y": {"0": "1"}, "bound": "-2/5", "strict": false}',
        '{"x": {}, "y": {"1": 1}, "bound": "2/3", "strict": true}',
    )
    text(
        "output",
        "rows_swapped",
        "property.json",
        f"{first}, {second}",
        f"{second}, {first}",
        "two rows of a disjunct swapped",
    )
    last = ',\n            [{"y": {"1": -1}, "bound": "-7/2", "strict": false}]'
    text("output", "disjunct_dropped", "property.json", last, "", "the last disjunct dropped")
    text(
        "output",
        "vnnlib",
        "property.vnnlib",
        "(<= Y_0 -0.5)",
        "(< Y_0 -0.5)",
        "an open comparison for a closed one",
        SMALL,
    )


def own_files(make: Maker) -> None:
    """Bundles that the kernel accepts and that are not about the user's own files; documents that were bound again."""
    onnx = ("--onnx", f"{DUMP}/net.onnx")
    own = ("--property", f"{DUMP}/property.vnnlib")
    extra = ',\n{"id":4,"kind":"relu","parents":[3],"shape":[1,1]}\n]}'
    make.text(
        "bind.graph",
        "again_node_appended",
        SMALL,
        "graph.json",
        "\n]}",
        extra,
        "a node more that nothing reads, bound again; against the ONNX file",
        again=True,
        args=onnx,
    )
    make.files(
        "bind.graph",
        "other_onnx",
        SMALL,
        {},
        "against the ONNX file of another network",
        args=("--onnx", "certs/dumps/control_boxsplit/net.onnx"),
    )
    make.files(
        "bind.graph",
        "no_onnx",
        SMALL,
        {},
        "against a file that is not ONNX",
        args=("--onnx", f"{DUMP}/property.vnnlib"),
    )

    def raised(tensors: dict[str, Tensor]) -> None:
        old = tensors["3.bias"]
        tensors["3.bias"] = tensor(old.dtype, old.shape, [elements(old)[0] + 0.25])

    make.tensors(
        "bind.payload",
        "again_bias",
        SMALL,
        PAYLOAD,
        raised,
        "the last bias raised by 1/4, bound again: true, but not of the ONNX file",
        again=True,
        args=onnx,
    )
    make.text(
        "bind.input",
        "again_smaller",
        SMALL,
        "property.vnnlib",
        "(assert (<= X_0 1))",
        "(assert (<= X_0 0.5))",
        "a smaller region, bound again: true, but not of the property file",
        again=True,
        args=own,
    )
    make.text(
        "bind.output",
        "again_weaker",
        SMALL,
        "property.vnnlib",
        "(<= Y_0 -0.5)",
        "(<= Y_0 -0.75)",
        "a smaller unsafe set, bound again: true, but not of the property file",
        again=True,
        args=own,
    )
    make.text(
        "bind.output",
        "again_strict",
        SMALL,
        "property.vnnlib",
        "(<= Y_0 -0.5)",
        "(< Y_0 -0.5)",
        "an open row, bound again: true, but not of the property file",
        again=True,
        args=own,
    )
    make.files(
        "bind.input",
        "other_property",
        SMALL,
        {},
        "against the property of another network",
        args=("--property", "certs/dumps/control_boxsplit/property.vnnlib"),
    )
