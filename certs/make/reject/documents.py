"""Cases of `json.*` and of the limits on text."""

from __future__ import annotations

from reject.case import Maker, graph, accepted, swapped

CHAPTER = "chapter"
RELU = '{"id": 1, "kind": "relu", "parents": [0], "shape": [1, 4]}'


def cases(make: Maker) -> None:
    """All cases of this module."""
    syntax(make)
    encoding(make)
    keys(make)
    values(make)
    limits(make)


def syntax(make: Maker) -> None:
    """`json.syntax` and `json.trailing`."""
    edits = {
        "comma_missing": ('"input_id": 0, ', '"input_id": 0 ', "a comma taken out"),
        "comma_left_over": ('"shape": []}', '"shape": [],}', "a comma after the last member"),
        "comma_in_array": ("[1, 4]}", "[1, 4,]}", "a comma after the last item"),
        "colon_missing": ('"input_id": 0', '"input_id" 0', "a colon taken out"),
        "key_without_quotes": ('"input_id"', "input_id", "a key without quotes"),
        "single_quotes": ('"sum"', "'sum'", "a string in single quotes"),
        "comment": ('"input_id"', '/* x */ "input_id"', "a comment"),
        "leading_zero": ('"input_id": 0', '"input_id": 00', "a number with a leading zero"),
        "plus_sign": ('"input_id": 0', '"input_id": +0', "a number with a plus sign"),
        "hexadecimal": ('"input_id": 0', '"input_id": 0x0', "a hexadecimal number"),
        "word": ('"shape": []', '"shape": none', "an unknown word"),
        "control_character": ('"sum"', '"s\num"', "a line break in a string"),
        "unknown_escape": ('"sum"', '"\\sum"', "an unknown escape"),
        "unicode_digits": ('"sum"', '"\\u00sum"', "an escape with two hexadecimal digits"),
        "string_not_closed": ("[]}\n]}\n", '[], "debug_target": "', "the document ends inside a string"),
        "bracket_for_brace": ('"shape": []}', '"shape": []]', "a bracket that closes a brace"),
    }
    for name, (old, new, words) in edits.items():
        data = graph(CHAPTER)
        content = data.replace(old.encode(), new.encode(), 1)
        make.whole("json.syntax", name, CHAPTER, content, words)
    make.whole("json.syntax", "cut_short", CHAPTER, graph(CHAPTER).rstrip()[:-1], "the last brace cut off")
    make.whole("json.syntax", "no_bytes", CHAPTER, b"", "all bytes cut off")
    numbers = {
        "nan": ("0.5,", "NaN,", "a weight is NaN"),
        "infinity": ("0.5,", "Infinity,", "a weight is an infinity"),
        "no_digit_before_point": ("0.5,", ".5,", "a number that starts with its point"),
        "no_digit_after_point": ("0.5,", "5.,", "a number that ends with its point"),
        "no_exponent": ("1e2", "1e", "an exponent without digits"),
    }
    for name, (old, new, words) in numbers.items():
        make.document("json.syntax", name, "numbers", old, new, words)
    make.text(
        "json.syntax",
        "bundle_manifest",
        "shared_tree",
        "bundle.json",
        '"hints": ',
        '"hints"; ',
        "a semicolon for a colon in the manifest",
    )
    make.text(
        "json.syntax",
        "certificate",
        "shared_tree",
        "cert.json",
        "[0, 0, 1]",
        "[0, 0 1]",
        "a comma taken out of the trees",
    )
    make.whole("json.trailing", "second_document", CHAPTER, graph(CHAPTER) * 2, "the document twice")
    make.whole("json.trailing", "brace", CHAPTER, graph(CHAPTER) + b"}", "one brace more")
    make.whole("json.trailing", "nul", CHAPTER, graph(CHAPTER) + b"\0", "a zero byte after the document")
    banner = swapped(accepted("shared_tree")["property.json"], "}]]}", "}]]} ok")
    make.files(
        "json.trailing", "property", "shared_tree", {"property.json": banner}, "a word after the property"
    )


def encoding(make: Maker) -> None:
    """`json.encoding`."""
    named = '"kind": "sum", '
    make.whole(
        "json.encoding", "byte_order_mark", CHAPTER, b"\xef\xbb\xbf" + graph(CHAPTER), "a byte order mark"
    )
    make.whole(
        "json.encoding",
        "utf_16",
        CHAPTER,
        b"\xff\xfe" + graph(CHAPTER).decode().encode("utf-16-le"),
        "written in UTF-16",
    )
    make.document(
        "json.encoding",
        "latin_1",
        CHAPTER,
        named,
        named.encode() + b'"onnx_name": "\xe9", ',
        "a name in Latin-1",
    )
    make.document(
        "json.encoding",
        "overlong",
        CHAPTER,
        named,
        named.encode() + b'"onnx_name": "\xc0\xae", ',
        "a point as two bytes of UTF-8",
    )
    make.document(
        "json.encoding",
        "lone_surrogate",
        CHAPTER,
        named,
        named + '"onnx_name": "\\ud800", ',
        "an escape that is half a character",
    )
    make.document(
        "json.encoding",
        "surrogates_swapped",
        CHAPTER,
        named,
        named + '"onnx_name": "\\udc00\\ud800", ',
        "two surrogates in the wrong order",
    )


def keys(make: Maker) -> None:
    """`json.duplicate-key`, `json.unknown-key` and `json.missing-key`."""
    code = "json.duplicate-key"
    make.document(
        code, "twice", CHAPTER, '"input_id": 0', '"input_id": 0, "input_id": 0', "a key twice with one value"
    )
    make.document(
        code,
        "other_value",
        CHAPTER,
        RELU,
        RELU.replace("[0]", '[0], "shape": [1, 5]'),
        "a shape twice with two values",
    )
    make.document(
        code,
        "escaped",
        CHAPTER,
        RELU,
        RELU.replace('"id"', '"\\u0069d": 0, "id"'),
        "`id` twice, once with an escape",
    )
    make.text(
        code,
        "coefficient",
        "shared_tree",
        "property.json",
        '{"0": -1}',
        '{"0": -1, "0": 1}',
        "a coefficient twice",
    )
    make.text(
        code,
        "digest",
        "shared_tree",
        "bundle.json",
        '"graph": "graph.json"',
        '"graph": "graph.json", "\\u0067raph": "graph.json"',
        "a file role twice, once with an escape",
    )
    make.text(
        code,
        "provenance",
        "shared_tree",
        "bundle.json",
        '"producer": "by hand"',
        '"producer": "by hand", "producer": "by hand"',
        "a key twice in what nobody believes",
    )
    code = "json.unknown-key"
    make.document(
        code,
        "document",
        CHAPTER,
        '"input_id"',
        '"tolerance": 1e-6, "input_id"',
        "a tolerance beside the nodes",
    )
    make.document(
        code,
        "node",
        CHAPTER,
        RELU,
        RELU.replace("[0]", '[0], "axis": 1'),
        "an attribute that relu does not have",
    )
    make.document(
        code,
        "other_operator",
        "numbers",
        '"values"',
        '"weight": [1, 2], "values"',
        "a weight in a const node",
    )
    make.document(
        code, "capital", CHAPTER, '"shape": []', '"shape": [], "Shape": []', "a key with a capital letter"
    )
    make.text(
        code,
        "manifest",
        "shared_tree",
        "bundle.json",
        '"kind"',
        '"slack": 0, "kind"',
        "a slack in the manifest",
    )
    make.text(
        code,
        "file_role",
        "shared_tree",
        "bundle.json",
        '"hints"',
        '"parts": "cert.safetensors", "hints"',
        "a file role that does not exist",
    )
    make.text(
        code,
        "digest_role",
        "shared_tree",
        "bundle.json",
        '"input"',
        '"claim": "0", "input"',
        "a fifth digest",
    )
    make.text(
        code,
        "certificate",
        "shared_tree",
        "cert.json",
        '"precision"',
        '"verified": true, "precision"',
        "a result in the certificate",
    )
    make.text(code, "row", "shared_tree", "property.json", '"x": {}', '"z": {}', "a third kind of variable")
    make.text(
        code,
        "property",
        "shared_tree",
        "property.json",
        '"outputs"',
        '"inputs": 2, "outputs"',
        "the number of inputs beside the region",
    )
    code = "json.missing-key"
    make.document(code, "input_id", CHAPTER, '"input_id": 0, ', "", "without `input_id`")
    make.document(code, "output_ids", CHAPTER, '"output_ids": [2], ', "", "without `output_ids`")
    make.document(code, "shape", CHAPTER, ', "shape": []', "", "a node without its shape")
    make.document(code, "parents", CHAPTER, '"parents": [1], ', "", "a node without its parents")
    make.document(code, "format", CHAPTER, '"format": "torchlean.ir.v1", ', "", "without the format")
    make.document(code, "id", CHAPTER, '"id": 1, ', "", "a node without its id")
    make.document(code, "kind", CHAPTER, '"kind": "relu", ', "", "a node without its operator")
    make.whole(
        code,
        "nodes",
        CHAPTER,
        b'{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [2]}\n',
        "without nodes",
    )
    digest = '             "payload": '
    lines = [
        line
        for line in accepted("shared_tree")["bundle.json"].splitlines(keepends=True)
        if not line.startswith(digest.encode())
    ]
    make.files(
        code,
        "digest",
        "shared_tree",
        {"bundle.json": b"".join(lines)},
        "the manifest without the digest of the payload",
    )
    make.text(
        code, "trees", "shared_tree", "cert.json", '"trees": [0, 0, 1], ', "", "a certificate without trees"
    )
    make.text(
        code,
        "strict",
        "shared_tree",
        "property.json",
        ', "strict": true',
        "",
        "a row that is neither open nor closed",
    )
    make.text(code, "bound", "shared_tree", "property.json", '"bound": "2/3", ', "", "a row without a bound")


def values(make: Maker) -> None:
    """`json.type`, `json.number` and `json.value`."""
    code = "json.type"
    make.document(code, "array_for_object", CHAPTER, RELU, '[1, "relu", [0], [1, 4]]', "a node as an array")
    make.document(code, "string_for_number", CHAPTER, '"input_id": 0', '"input_id": "0"', "an id as a string")
    make.document(code, "number_for_string", CHAPTER, '"sum"', "3", "an operator as a number")
    make.document(code, "number_for_array", CHAPTER, "[2]", "2", "the outputs as one number")
    make.document(code, "string_for_axis", CHAPTER, RELU, RELU.replace("[1, 4]", '["1", 4]'), "an axis as a string")
    make.document(code, "null", CHAPTER, '"shape": []', '"shape": null', "a shape that is null")
    make.whole(
        code, "array_document", CHAPTER, b"[" + graph(CHAPTER).rstrip() + b"]\n", "the document in an array"
    )
    make.document(code, "boolean_for_number", "numbers", "0.5,", "true,", "a weight that is true")
    make.document(code, "string_weight", "numbers", "0.5,", '"0.5",', "a weight as a string")
    make.text(
        code,
        "manifest_digests",
        "shared_tree",
        "bundle.json",
        '"provenance": {"producer": "by hand"}',
        '"provenance": []',
        "an array for the provenance",
    )
    make.text(code, "trees", "shared_tree", "cert.json", "[0, 0, 1]", '{"0": 0}', "an object for the trees")
    make.text(
        code,
        "row",
        "shared_tree",
        "property.json",
        '{"y": {"0": -1}, "bound": "-9/4", "strict": false}',
        "[]",
        "an array for a row",
    )
    make.text(
        code,
        "strict",
        "shared_tree",
        "property.json",
        '"strict": true',
        '"strict": 1',
        "a number for a boolean",
    )
    code = "json.number"
    make.document(
        code, "fraction_id", CHAPTER, '"input_id": 0', '"input_id": 0.5', "an id that is no natural number"
    )
    make.document(
        code, "negative_axis", CHAPTER, RELU, RELU.replace("[1, 4]", "[1, -4]"), "an axis of negative length"
    )
    make.document(code, "point", CHAPTER, '"input_id": 0', '"input_id": 0.0', "an id with a decimal point")
    make.document(
        code, "beyond_64_bits", CHAPTER, '"input_id": 0', '"input_id": 18446744073709551616', "an id of 2^64"
    )
    make.document(code, "weight_rounds_to_infinity", "numbers", "1e2", "1e400", "a weight beyond binary64")
    make.text(
        code,
        "precision_high",
        "shared_tree",
        "cert.json",
        '"precision": 2',
        '"precision": 17',
        "a precision of 17 digits",
    )
    make.text(
        code,
        "precision_low",
        "shared_tree",
        "cert.json",
        '"precision": 2',
        '"precision": 1',
        "a precision of one digit",
    )
    for name, text, words in [
        ("zero_denominator", "1/0", "a threshold of 1/0"),
        ("negative_denominator", "1/-3", "a threshold with a negative denominator"),
        ("nan_text", "NaN", "a threshold that is NaN"),
        ("space", "1/ 3", "a space in a threshold"),
        ("hexadecimal_without_exponent", "0x1.8", "a hexadecimal threshold without exponent"),
        ("plus", "+1/3", "a threshold with a plus sign"),
    ]:
        make.text(code, name, "shared_tree", "cert.json", "1/3", text, words)
    code = "json.value"
    make.text(
        code, "bound_set", "shared_tree", "cert.json", '"slopes"', '"tight"', "a bound set of an unknown kind"
    )
    make.text(
        code,
        "bound_set_capital",
        "shared_tree",
        "cert.json",
        '"plain"',
        '"Plain"',
        "a kind of bound set with a capital letter",
    )
    make.text(
        code,
        "ends",
        "shared_tree",
        "property.json",
        '["-1", -1]',
        '["-1", -1, -1]',
        "a lower end more than upper ends",
    )


def limits(make: Maker) -> None:
    """`limit.*` on text; all files are small."""
    deep = "[" * 62 + "]" * 62
    make.document(
        "limit.json-depth",
        "shape",
        CHAPTER,
        '"shape": []',
        f'"shape": {deep}',
        "a shape nested so that the document is 65 deep",
    )
    make.document(
        "limit.json-depth",
        "unclosed",
        CHAPTER,
        '"shape": []}',
        f'"shape": {"[" * 2000}',
        "a shape of 2000 opening brackets",
    )
    make.document("limit.exponent", "weight", "numbers", "1e2", "1e1000000000", "a weight of 1e1000000000")
    make.document("limit.exponent", "zero", "numbers", "0.5,", "0e4097,", "a zero with an exponent of 4097")
    make.text(
        "limit.exponent",
        "hexadecimal",
        "shared_tree",
        "property.json",
        "0x1p0",
        "0x1p-4097",
        "an end of 2^-4097",
    )
    make.document("limit.digits", "weight", "numbers", "0.5,", f"0.{'3' * 4096},", "a weight of 4097 digits")
    make.text(
        "limit.digits",
        "threshold",
        "shared_tree",
        "cert.json",
        "1/3",
        f"1/{'3' * 4097}",
        "a threshold with 4097 digits below the line",
    )
    make.document(
        "limit.rank",
        "shape",
        CHAPTER,
        '"shape": []',
        f'"shape": [{", ".join("1" * 17)}]',
        "a shape of 17 axes",
    )
    make.whole(
        "limit.elements",
        "input",
        CHAPTER,
        graph(CHAPTER).replace(b"[1, 4]", b"[1073741825]"),
        "an input of 2^30 + 1 elements",
    )
    make.whole(
        "limit.graph-elements",
        "values",
        CHAPTER,
        graph(CHAPTER).replace(b"[1, 4]", b"[268435456]"),
        "values of more than 2^28 elements together",
    )
    make.text(
        "limit.variables",
        "outputs",
        "shared_tree",
        "property.json",
        '"outputs": 2',
        '"outputs": 10000001',
        "10000001 outputs",
    )
    assertion = "(assert (<= Y_0 -0.5))"
    doubled = "(assert (or (<= Y_0 -0.5) (<= Y_0 -0.5)))\n"
    nested = "(and " * 64 + "(<= Y_0 -0.5)" + ")" * 64
    make.text(
        "limit.property-depth",
        "and",
        "small_relu",
        "property.vnnlib",
        assertion,
        f"(assert {nested})",
        "a row inside 64 times `and`",
    )
    make.text(
        "limit.disjuncts",
        "product",
        "small_relu",
        "property.vnnlib",
        assertion,
        doubled * 17,
        "17 assertions of two disjuncts each: 2^17",
    )
    rows = f"(assert (and {'(<= Y_0 1e1000) ' * 400}))\n"
    make.text(
        "limit.rows",
        "product",
        "small_relu",
        "property.vnnlib",
        assertion,
        doubled * 12 + rows,
        "2^12 disjuncts of 400 rows with 3300 bits each",
    )
    first, second = (10**4000 + n for n in (1, 3))
    row = f'"x": {{"0": "1/{first}", "1": "1/{second}"}}'
    make.text(
        "limit.denominator-bits",
        "denominator",
        "shared_tree",
        "property.json",
        '"x": {}',
        row,
        "coefficients with coprime denominators of 4001 digits",
        again=True,
    )
