"""Cases of `property.*`."""

from __future__ import annotations

from reject.case import Maker, accepted

SMALL = "small_relu"
SHARED = "shared_tree"
FILE = "property.vnnlib"
UPPER = "(assert (<= X_0 1))"
OUTPUT = "(assert (<= Y_0 -0.5))"


def cases(make: Maker) -> None:
    """All cases of this module."""
    vnnlib(make)
    tensors(make)
    regions(make)
    documents(make)


def vnnlib(make: Maker) -> None:
    """The language."""
    code = "property.syntax"
    edits = {
        "not_closed": (OUTPUT, OUTPUT[:-1], "a parenthesis taken out at the end"),
        "closed_twice": (OUTPUT, OUTPUT + ")", "a parenthesis too many"),
        "word_outside": (OUTPUT, "unsat " + OUTPUT, "a word outside of all lists"),
        "empty_list": (UPPER, "(assert (and () (<= X_0 1)))", "an empty list"),
        "no_argument": (OUTPUT, "(assert (and))", "an `and` of nothing"),
        "two_formulas": (OUTPUT, "(assert (<= Y_0 -0.5) (<= Y_0 0.5))", "an assertion of two formulas"),
        "not_a_number": (OUTPUT, "(assert (<= Y_0 -0.5.0))", "a number with two points"),
        "leading_zero": (OUTPUT, "(assert (<= Y_0 -00.5))", "a number with a leading zero"),
        "term_for_formula": (OUTPUT, "(assert (+ Y_0 0.5))", "a term where a formula is expected"),
        "formula_for_term": (OUTPUT, "(assert (<= (<= Y_0 0) -0.5))", "a formula where a term is expected"),
        "no_type": ("(declare-const Y_0 Real)", "(declare-const Y_0)", "a declaration without a type"),
        "quoted": (OUTPUT, "(assert (<= |Y_0| -0.5))", "a quoted name"),
        "minus_sign": (OUTPUT, "(assert (<= Y_0 \u22120.5))", "a minus sign that is not that of ASCII"),
        "operator_list": (OUTPUT, "(assert ((and (<= Y_0 -0.5)) Y_0))", "a list for an operator"),
    }
    for name, (old, new, words) in edits.items():
        make.text(code, name, SMALL, FILE, old, new, words)
    code = "property.unsupported"
    edits = {
        "int": ("(declare-const Y_0 Real)", "(declare-const Y_0 Int)", "an output that is an integer"),
        "declare_fun": (
            "(declare-const Y_0 Real)",
            "(declare-fun Y_0 () Real)",
            "a declaration by `declare-fun`",
        ),
        "three_sides": (UPPER, "(assert (<= -2 X_0 1))", "a comparison of three sides"),
        "not": (OUTPUT, "(assert (not (> Y_0 -0.5)))", "a negation"),
        "product": (OUTPUT, "(assert (<= (* Y_0 Y_0) -0.5))", "a product of two variables"),
        "division": (OUTPUT, "(assert (<= (/ Y_0 2) -0.5))", "a division"),
        "implication": (OUTPUT, "(assert (=> (<= X_0 0) (<= Y_0 -0.5)))", "an implication"),
        "capital": (OUTPUT, "(assert (AND (<= Y_0 -0.5)))", "an operator in capital letters"),
        "command": (OUTPUT, OUTPUT + "\n(check-sat)", "another command"),
        "named": (OUTPUT, "(assert (! (<= Y_0 -0.5) :named a))", "a formula with a name"),
    }
    for name, (old, new, words) in edits.items():
        make.text(code, name, SMALL, FILE, old, new, words)
    code = "property.variable"
    edits = {
        "undeclared_input": (UPPER, UPPER + "\n(assert (<= X_2 1))", "an input that is not declared"),
        "undeclared_output": (OUTPUT, "(assert (<= Y_1 -0.5))", "an output that is not declared"),
        "leading_zero": (UPPER, "(assert (<= X_00 1))", "a coordinate with a leading zero"),
        "other_name": (OUTPUT, "(assert (<= y -0.5))", "a variable of another name"),
        "twice": (
            "(declare-const Y_0 Real)",
            "(declare-const Y_0 Real)\n(declare-const Y_0 Real)",
            "a declaration twice",
        ),
        "hole": ("(declare-const X_1 Real)", "(declare-const X_2 Real)", "a declaration that leaves out X_1"),
        "indexed_hidden": (OUTPUT, "(assert (<= Z_0 -0.5))", "a variable that is neither input nor output"),
    }
    for name, (old, new, words) in edits.items():
        make.text(code, name, SMALL, FILE, old, new, words)
    text = accepted(SMALL)[FILE].decode()
    declaration = "(declare-const Y_0 Real)\n"
    late = text.replace(declaration, "").rstrip() + "\n" + declaration
    make.files(code, "declared_late", SMALL, {FILE: late.encode()}, "a declaration after its use")


def tensors(make: Maker) -> None:
    """VNN-LIB 2.0: the sibling's property about tensors that are of other shapes than in the network, [1, 2] and [1, 1]."""

    def second(x: str, y: str) -> bytes:
        index = {"[1,2]": "[0,{}]", "[2,1]": "[{},0]", "[2]": "[{}]"}[x]
        first, last = ("X" + index.format(i) for i in (0, 1))
        output = "Y[0,0]" if y == "[1,1]" else "Y[0]"
        return f"""(vnnlib-version <2.0>)
(declare-network n (declare-input X Real {x}) (declare-output Y Real {y}))
(assert (and (<= {first} 1) (>= {first} -1) (<= {last} 1) (>= {last} -1)))
(assert (<= {output} -0.5))
""".encode()

    code = "property.shape"
    make.files(code, "turned", SMALL, {FILE: second("[2,1]", "[1,1]")}, "an input of shape [2, 1]")
    make.files(code, "no_batch", SMALL, {FILE: second("[2]", "[1,1]")}, "an input of shape [2]")
    make.files(code, "output", SMALL, {FILE: second("[1,2]", "[1]")}, "an output of shape [1]")
    own = f"certs/reject/{code}/turned/{FILE}"
    words = "the user's own property, about an input of shape [2, 1]"
    make.files(code, "own_property", SMALL, {}, words, args=("--property", own))


def regions(make: Maker) -> None:
    """Regions."""
    code = "property.unbounded"
    edits = {
        "above": (UPPER + "\n", "", "no upper bound of X_0"),
        "one_disjunct": (
            UPPER,
            "(assert (or (<= X_0 1) (<= X_1 1)))",
            "a disjunct without an upper bound of X_0",
        ),
        "two_variables": (UPPER, "(assert (<= (+ X_0 X_1) 1))", "an upper bound of X_0 + X_1 only"),
        "with_output": (UPPER, "(assert (<= (+ X_0 Y_0) 1))", "an upper bound of X_0 + Y_0 only"),
        "cancelled": (UPPER, "(assert (<= (- X_0 X_0) 1))", "an upper bound of X_0 - X_0"),
        "commented": (UPPER, "; " + UPPER, "the upper bound of X_0 in a comment"),
    }
    for name, (old, new, words) in edits.items():
        make.text(code, name, SMALL, FILE, old, new, words)
    code = "property.empty-region"
    make.text(code, "crossed", SMALL, FILE, UPPER, "(assert (<= X_0 -1.5))", "an upper bound below the lower")
    make.text(
        code,
        "by_a_hair",
        SMALL,
        FILE,
        UPPER,
        f"(assert (<= X_0 -1.{'0' * 400}1))",
        "an upper bound 10^-401 below the lower",
    )
    make.text(
        code, "json", SHARED, "property.json", '["-1", -1]', '["-1", "3/2"]', "a lower end above the upper"
    )


def documents(make: Maker) -> None:
    """Properties in JSON, and what does not fit the network."""
    make.text(
        "property.variable",
        "json_beyond",
        SHARED,
        "property.json",
        '{"0": "1"}',
        '{"2": "1"}',
        "an output beyond the two",
    )
    make.text(
        "property.variable",
        "json_leading_zero",
        SHARED,
        "property.json",
        '{"0": "1"}',
        '{"00": "1"}',
        "a coordinate with a leading zero",
    )
    make.text(
        "property.variable",
        "json_negative",
        SHARED,
        "property.json",
        '{"0": "1"}',
        '{"-1": "1"}',
        "a coordinate below zero",
    )
    make.text(
        "property.variable",
        "json_input_beyond",
        SHARED,
        "property.json",
        '"x": {}',
        '"x": {"2": 1}',
        "an input beyond the two",
    )
    text = accepted(SHARED)["property.json"].decode()
    none = text[: text.index('"unsafe": ')] + '"unsafe": []}\n'
    make.files(
        "property.no-disjunct",
        "empty_list",
        SHARED,
        {"property.json": none.encode()},
        "an unsafe set without disjuncts",
    )
    code = "property.widths"
    make.text(
        code, "outputs", SHARED, "property.json", '"outputs": 2', '"outputs": 3', "three outputs for two"
    )
    make.text(
        code,
        "extra_output",
        SMALL,
        FILE,
        "(declare-const Y_0 Real)",
        "(declare-const Y_0 Real)\n(declare-const Y_1 Real)",
        "an output that the network does not have",
    )
    extra = "(declare-const X_1 Real)\n(declare-const X_2 Real)\n(assert (= X_2 0))"
    make.text(
        code,
        "extra_input",
        SMALL,
        FILE,
        "(declare-const X_1 Real)",
        extra,
        "an input that the network does not have",
    )
    make.text(
        code,
        "other_outputs",
        SMALL,
        "graph.json",
        '"output_ids":[3]',
        '"output_ids":[2]',
        "the four values of the relu as outputs",
    )
