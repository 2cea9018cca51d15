"""Strict readers of the reference: numbers, JSON, safetensors, properties (schemas/SPEC.md, sections 2 and 3).

A reader returns what the bytes spell, exactly, or raises `Rejected` with a code of the project. A code
`limit.<name>` is a budget; every other code but `leaf.unproved` is a malformed or unbound document.
"""

import itertools
import json
import math
import re
import struct
from collections import namedtuple
from fractions import Fraction

# Budgets (SPEC, section 8). `rows` counts bits, of all rows together; `denominator-bits` is for each row.
LIMITS = {"digits": 4096, "exponent": 1100, "json-depth": 64, "header-bytes": 10**8, "rank": 16, "elements": 1 << 30,
          "graph-elements": 1 << 22, "tree-depth": 4096, "path-elements": 1 << 21, "property-depth": 64,
          "variables": 10**7, "disjuncts": 10**5, "rows": 1 << 32, "denominator-bits": 1 << 14}  # fmt: skip


class Rejected(Exception):
    """The document is refused, for a reason (a code) and a detail."""

    code = property(lambda self: self.args[0])
    __str__ = lambda self: ": ".join(map(str, self.args))


def require(condition, code, detail=""):
    """The condition, which is true."""
    if not condition:
        raise Rejected(code, detail)
    return condition


def within(count, name):
    require(count <= LIMITS[name], f"limit.{name}", str(count)[:40])


# Numbers -------------------------------------------------------------------------------------------------------------

# sign, digits before and after the point, sign and digits of the exponent
DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)0*([0-9]+))?")
HEXADECIMAL = re.compile(r"(-?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?)0*([0-9]+)")
QUOTIENT = re.compile(r"(-?(?:0|[1-9][0-9]*))/(0|[1-9][0-9]*)")


Number = namedtuple("Number", "text")  # a JSON number, kept as its text


def decimal(text, code="json.number", grammar=DECIMAL, base=10, power=10):
    """The rational that a decimal by the grammar of JSON spells; by HEXADECIMAL digits · 2^exponent."""
    match = require(grammar.fullmatch(text), code, text[:40])
    sign, whole, rest, minus, exponent = match.groups(default="")
    within(len(whole + rest), "digits")
    within(int(exponent[:7] or 0), "exponent")
    return Fraction(int(sign + whole + rest, base), base ** len(rest)) * Fraction(power) ** int(minus + exponent or 0)


def rational(value):
    """A JSON number, or a string: a decimal, `p/q`, or C99 hexadecimal."""
    text = value.text if isinstance(value, Number) else typed(value, str)
    if match := QUOTIENT.fullmatch(text):
        top, bottom = map(decimal, match.groups())
        return top / require(bottom, "json.number", "zero denominator")
    return decimal(text, "json.number", HEXADECIMAL, 16, 2) if HEXADECIMAL.fullmatch(text) else decimal(text)


def natural(value):
    """A JSON number without minus sign and point, below 2^64."""
    number = decimal(typed(value, Number).text)
    require(number < 1 << 64 and not re.search(r"[-.]", value.text), "json.number", value.text[:40])
    return int(number)


def binary64(value):
    """The decimal rounded once to binary64, ties to even; a minus sign stays on a zero."""
    require(abs(decimal(typed(value, Number).text)) < (1 << 1024) - (1 << 970), "json.number", "rounds to infinity")
    return float(value.text)  # correctly rounded


# JSON ----------------------------------------------------------------------------------------------------------------


def read_json(data, duplicate="json.duplicate-key"):
    """One JSON document in UTF-8. `duplicate` is the code of a key that stands twice in the outermost object."""
    text = data.decode("utf-8", "surrogateescape").strip(" \t\n\r")  # not UTF-8: half characters
    require(not (data.startswith(b"\xef\xbb\xbf") or re.search("[\ud800-\udfff]", text)), "json.encoding", "bytes")
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"?|[][{}]', text, re.DOTALL)
    within(max(itertools.accumulate((token in "{[") - (token in "}]") for token in tokens), default=0), "json-depth")
    # int refuses what no JSON is: NaN, Infinity
    reader = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=int, object_pairs_hook=tuple)
    try:
        value, end = reader.raw_decode(text)
    except ValueError as error:
        raise Rejected("json.syntax", str(error)) from None
    require(end == len(text), "json.trailing", f"at {end}")
    return _plain(value, duplicate)


def _plain(value, duplicate="json.duplicate-key"):
    """The value with objects, here tuples of members, as dictionaries; half characters and keys that stand twice are
    refused."""
    if type(value) is tuple:
        members = {}
        for key, member in value:
            require(_plain(key) not in members, duplicate, key)
            members[key] = _plain(member)
        return members
    require(type(value) is not str or not re.search("[\ud800-\udfff]", value), "json.encoding", "half a character")
    return [_plain(item) for item in value] if isinstance(value, list) else value


def typed(value, kind):
    """`value` as a kind: a type; [kind], an array; {name: kind}, an object with these members and no others, of which
    those whose names end in ? may be left out; or the function that reads it."""
    if isinstance(kind, list):
        return [typed(item, kind[0]) for item in typed(value, list)]
    if isinstance(kind, dict):
        known = {name.removesuffix("?"): kind[name] for name in kind}
        require(typed(value, dict).keys() <= known.keys(), "json.unknown-key", value.keys() - known.keys())
        require(kind.keys() & known.keys() <= value.keys(), "json.missing-key", known.keys() - value.keys())
        return {name: typed(value[name], known[name]) for name in known if name in value}
    require(not isinstance(kind, type) or isinstance(value, kind), "json.type", f"{kind} is expected")
    return value if isinstance(kind, type) else kind(value)


def formatted(value, form, members):
    """`value` as an object of the format `form`, which its member `format` names."""
    require(typed(value, dict).get("format", form) == form, "bundle.format", form)
    return typed(value, {"format": str, **members})


# safetensors ---------------------------------------------------------------------------------------------------------

# Codes of `struct`; of the types that no document uses only the width counts.
FORMATS = {"BOOL": "B", "U8": "B", "I8": "b", "F8_E5M2": "B", "F8_E4M3": "B", "I16": "h", "U16": "H", "F16": "H",
           "BF16": "H", "I32": "i", "U32": "I", "F32": "f", "I64": "q", "U64": "Q", "F64": "d"}  # fmt: skip
# `data` as it stands in the file; `values` are exact, for every binary32 is a binary64
Tensor = namedtuple("Tensor", "dtype shape data values")


def read_tensors(data):
    """The tensors of a safetensors file, with the extra checks of SPEC section 2."""
    length = int.from_bytes(data[:8], "little")
    require(len(data) >= 8, "tensors.header")
    within(length, "header-bytes")
    header = 8 + length <= len(data) and re.fullmatch(rb"(\{.*\})( {0,7})", data[8 : 8 + length], re.DOTALL)
    require(header and (not header[2] or length % 8 == 0), "tensors.header", "in the file one object and its padding")
    tensors, ranges, body = {}, [], data[8 + length :]
    for name, entry in read_json(header[1], "tensors.duplicate").items():
        if name == "__metadata__":
            typed(list(typed(entry, dict).values()), [str])
            continue
        dtype, shape, ends = typed(entry, {"dtype": str, "shape": object, "data_offsets": object}).values()
        require(dtype in FORMATS, "tensors.dtype", name)
        shape = tuple(typed(shape, [natural]))
        within(len(shape), "rank")
        within(math.prod(shape), "elements")
        ends = typed(ends, [natural])
        require(len(ends) == 2, "tensors.header", "two offsets")
        require(ends[0] <= ends[1] <= len(body), "tensors.layout", name)
        form, part = f"<{math.prod(shape)}{FORMATS[dtype]}", body[ends[0] : ends[1]]
        require(len(part) == struct.calcsize(form), "tensors.shape", name)
        ranges.append(ends)
        tensors[name] = Tensor(dtype, shape, part, struct.unpack(form, part))
    begins, ends = ([ends[k] for ends in sorted(ranges)] for k in (0, 1))
    require([*begins, len(body)] == [0, *ends], "tensors.layout", "holes, overlaps or bytes left over")
    return tensors


# Properties ----------------------------------------------------------------------------------------------------------


# Σ coefficient · variable ≤ bound (< where strict); a variable is ("x", i) or ("y", i), in this order
Row = namedtuple("Row", "terms bound strict")


# The region, a box of pairs (lower, upper), and the unsafe set: disjuncts, each a list of rows
Property = namedtuple("Property", "box outputs unsafe")


def read_property(name, data):
    prop = (read_property_json if name.endswith(".json") else read_vnnlib)(data)
    require(prop.unsafe, "property.no-disjunct")
    require(all(low <= high for low, high in prop.box), "property.empty-region")
    return prop


def make_row(coefficients, bound, strict):
    """A row without zero coefficients, its variables in order."""
    terms = tuple(sorted((v, c) for v, c in coefficients.items() if c != 0))
    within(math.lcm(bound.denominator, *(c.denominator for _, c in terms)).bit_length(), "denominator-bits")
    return Row(terms, bound, strict)


def cut(box, rows, place):
    """CASES. The box, pairs (low, high) of the coordinates of `place`, cut by those rows that speak of a single one of
    them (closed; it may be empty)."""
    box = list(box)
    for row in rows:
        if len(row.terms) == 1 and row.terms[0][0][0] == place:
            ((_, i), c), (low, high) = row.terms[0], box[row.terms[0][0][1]]
            box[i] = (low, min(high, row.bound / c)) if c > 0 else (max(low, row.bound / c), high)
    return box


def read_property_json(data):
    """The JSON form of a property."""
    members = {"outputs": natural, "lower": [rational], "upper": [rational], "unsafe": object}
    _, outputs, lower, upper, unsafe = formatted(read_json(data), "certkern.property.v1", members).values()
    within(max(outputs, len(lower)), "variables")
    require(len(lower) == len(upper), "json.value", "as many lower ends as upper ends")

    def variable(side, index):
        count = len(lower) if side == "x" else outputs
        require(re.fullmatch("0|[1-9][0-9]{0,9}", index) and int(index) < count, "property.variable", index)
        return side, int(index)

    def read_row(value):
        row = typed(value, {"x?": object, "y?": object, "bound": object, "strict": object})
        terms = ((side, item) for side in "xy" for item in typed(row.get(side, {}), dict).items())
        coefficients = {variable(side, index): rational(c) for side, (index, c) in terms}
        return make_row(coefficients, rational(row["bound"]), typed(row["strict"], bool))

    return Property(list(zip(lower, upper)), outputs, typed(unsafe, [[read_row]]))


def read_vnnlib(data):
    """VNN-LIB 1.0: declarations and assertions; see SPEC section 3 for what each form denotes."""
    counts, disjuncts = {"X": 0, "Y": 0}, [[]]
    for command in _lists(data.decode("utf-8", "replace")):  # outside of comments, only ASCII is accepted
        head, *arguments = _call(command, ("declare-const", "assert"))
        if head == "assert":
            require(len(arguments) == 1, "property.syntax")
            disjuncts = _product(disjuncts, _formula(arguments[0], counts))
            continue
        require(len(arguments) == 2 and all(isinstance(a, str) for a in arguments), "property.syntax")
        name, sort = arguments
        require(sort == "Real", "property.unsupported", sort)
        require(name in {f"{letter}_{count}" for letter, count in counts.items()}, "property.variable", name)
        counts[name[0]] += 1
        within(counts[name[0]], "variables")
    whole, hull = [(-math.inf, math.inf)] * counts["X"], [(math.inf, -math.inf)] * counts["X"]
    for rows in disjuncts:
        hull = [(min(a, low), max(b, high)) for (a, b), (low, high) in zip(hull, cut(whole, rows, "x"))]
    require(all(-math.inf < a and b < math.inf for a, b in hull), "property.unbounded")
    return Property(hull, counts["Y"], disjuncts)


def _lists(text):
    """The parenthesised lists of the text; a semicolon starts a comment."""
    stack = [[]]
    for token in re.findall(r"[()]|[^()\t\n\r ]+", re.sub(r";[^\n\r]*", " ", text)):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            stack[-2].append(stack.pop())
        else:
            require(len(stack) > 1 and re.fullmatch("[!#-'*-:<-{}~]+", token), "property.syntax", token)
            stack[-1].append(token)
        within(len(stack) - 1, "property-depth")
    require(len(stack) == 1, "property.syntax", "parenthesis")
    return stack[0]


def _call(form, heads, wrong=()):
    """A list that begins with one of `heads`; a term where a formula stands, or a formula for a term, is bad syntax."""
    require(isinstance(form, list) and form and isinstance(form[0], str) and form[0] not in wrong, "property.syntax")
    require(form[0] in heads, "property.unsupported", form[0])
    return form


def _product(left, right):
    """A's disjuncts times B's, A's index running slowest."""
    within(len(left) * len(right), "disjuncts")

    def bits(d):
        return sum(r.bound.numerator.bit_length() + r.bound.denominator.bit_length() + 64 * len(r.terms) for r in d)

    within(sum(map(bits, left)) * len(right) + sum(map(bits, right)) * len(left), "rows")
    return [a + b for a in left for b in right]


TERMS = ("+", "-", "*")
COMPARISONS = {"<=": (1,), "<": (1,), ">=": (-1,), ">": (-1,), "=": (1, -1)}  # factors of s − t in the rows ≤ 0
FORMULAS = ("and", "or", *COMPARISONS)


def _formula(form, counts):
    """The disjuncts of a formula."""
    head, *arguments = _call(form, FORMULAS, TERMS)
    if head in COMPARISONS:
        require(len(arguments) == 2, "property.unsupported", "a comparison has two sides")
        difference = _add(*(_term(argument, counts) for argument in arguments), -1)
        constant = difference.pop((), Fraction(0))
        return [[make_row(_add({}, difference, f), -f * constant, head in "<>") for f in COMPARISONS[head]]]
    require(arguments, "property.syntax", "no argument")
    result = [[]] if head == "and" else []
    for argument in arguments:
        disjuncts = _formula(argument, counts)
        result = _product(result, disjuncts) if head == "and" else result + disjuncts
        within(len(result), "disjuncts")
    return result


def _add(s, t, factor=1):
    """s + factor · t, variable by variable."""
    return s | {variable: s.get(variable, 0) + factor * c for variable, c in t.items()}


def _term(form, counts):
    """A linear term: coefficients by variable, the constant under ()."""
    if isinstance(form, str):
        if re.match(r"[-+.0-9]", form):
            return {(): decimal(form, "property.syntax")}
        match = re.fullmatch(r"([XY])_(0|[1-9][0-9]*)", form)
        require(match and len(match[2]) < 9 and int(match[2]) < counts[match[1]], "property.variable", form)
        return {(match[1].lower(), int(match[2])): Fraction(1)}
    head, *arguments = _call(form, TERMS, FORMULAS)
    require(arguments, "property.syntax", "no argument")
    negated = head == "-" and len(arguments) == 1  # (- t) is 0 − t
    total, *rest = (_term(argument, counts) for argument in (["0", *arguments] if negated else arguments))
    for other in rest:
        number, form = (total, other) if total.keys() == {()} else (other, total)
        require(head != "*" or number.keys() == {()}, "property.unsupported", "a product of variables")
        total = _add({}, form, number[()]) if head == "*" else _add(total, other, -1 if head == "-" else 1)
    return total
