"""Strict readers of the reference: numbers, JSON, safetensors, properties (schemas/SPEC.md, sections 2 and 3).

A reader returns what the bytes spell, exactly, or raises `Rejected` with a code of the project. A code
`limit.<name>` is a budget; every other code but `leaf.unproved` is a malformed or unbound document.
"""

import json
import math
import re
import struct
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = 4096  # decimal digits of a number
MAX_EXPONENT = 1100  # written exponent, absolute
MAX_JSON_DEPTH = 64
MAX_PROPERTY_DEPTH = 64  # nested lists of VNN-LIB
MAX_HEADER_BYTES = 100_000_000
MAX_RANK = 16
MAX_ELEMENTS = 1 << 30  # of one tensor
MAX_VARIABLES = 10_000_000
MAX_DISJUNCTS = 100_000
MAX_DENOMINATOR_BITS = 1 << 14  # common denominator of the coefficients of a row
MAX_ROWS_BITS = 1 << 32  # all rows together


class Rejected(Exception):
    """The document is refused; `code` says why."""

    def __init__(self, code, detail=""):
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code


def require(condition, code, detail=""):
    if not condition:
        raise Rejected(code, detail)


# Numbers -------------------------------------------------------------------------------------------------------------

DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
HEXADECIMAL = re.compile(r"(-?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)")
QUOTIENT = re.compile(r"(-?(?:0|[1-9][0-9]*))/(0|[1-9][0-9]*)")


def scaled(sign, whole, rest, exponent, base, power):
    """The rational sign · whole.rest · power^exponent, digits in `base`, within the budgets."""
    require(len(whole) + len(rest) <= MAX_DIGITS, "limit.digits")
    require(len(exponent.lstrip("+-0")) <= 6 and abs(int(exponent)) <= MAX_EXPONENT, "limit.exponent")
    value = Fraction(int(whole + rest, base), base ** len(rest)) * Fraction(power) ** int(exponent)
    return -value if sign else value


def decimal(text, code="json.number"):
    """The rational that a decimal by the grammar of JSON spells."""
    match = DECIMAL.fullmatch(text)
    require(match, code, text[:40])
    sign, whole, rest, exponent = match.groups(default="")
    return scaled(sign, whole, rest, exponent or "0", 10, 10)


def rational(value):
    """A JSON number, or a string: a decimal, `p/q`, or C99 hexadecimal."""
    if isinstance(value, Number):
        return decimal(value.text)
    require(isinstance(value, str), "json.type", "a number is expected")
    if match := QUOTIENT.fullmatch(value):
        top, bottom = (decimal(part) for part in match.groups())
        require(bottom != 0, "json.number", "zero denominator")
        return top / bottom
    if (match := HEXADECIMAL.fullmatch(value)) and (match[2] or match[3]):
        sign, whole, rest, exponent = match.groups(default="")
        return scaled(sign, whole, rest, exponent, 16, 2)
    return decimal(value)


def natural(value):
    """A JSON number without minus sign and point, below 2^64."""
    require(isinstance(value, Number), "json.type", "a natural number is expected")
    number = decimal(value.text)
    require(number < 1 << 64 and not re.search(r"[-.]", value.text), "json.number", value.text[:40])
    return int(number)


def binary64(value):
    """The decimal rounded once to binary64, ties to even; a minus sign stays on a zero."""
    require(isinstance(value, Number), "json.type", "a number is expected")
    decimal(value.text)  # the budgets
    rounded = float(value.text)  # correctly rounded
    require(math.isfinite(rounded), "json.number", "rounds to infinity")
    return rounded


# JSON ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A JSON number, kept as its text."""

    text: str


def read_json(data, duplicate="json.duplicate-key"):
    """One JSON document in UTF-8. `duplicate` is the code of a key that stands twice in the outermost object."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected("json.encoding", str(error)) from None
    require(not text.startswith("\ufeff"), "json.encoding", "byte order mark")
    depth = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"?|[][{}]', text, re.DOTALL):
        depth += (token in "{[") - (token in "}]")
        require(depth <= MAX_JSON_DEPTH, "limit.json-depth")
    reader = json.JSONDecoder(
        parse_int=Number, parse_float=Number, parse_constant=_no_word, object_pairs_hook=_Members
    )
    begin = re.match(r"[ \t\n\r]*", text).end()
    try:
        value, end = reader.raw_decode(text, begin)
    except ValueError as error:
        raise Rejected("json.syntax", str(error)) from None
    require(not text[end:].strip(" \t\n\r"), "json.trailing", f"at {end}")
    return _plain(value, duplicate)


def _no_word(word):
    raise Rejected("json.syntax", word)


class _Members(list):
    """The members of an object as they stand."""


def _plain(value, duplicate="json.duplicate-key"):
    """The value with objects as dictionaries; half characters and keys that stand twice are refused."""
    if isinstance(value, str):
        require(not re.search("[\ud800-\udfff]", value), "json.encoding", "half a character")
    if isinstance(value, _Members):
        members = {}
        for key, member in value:
            require(_plain(key) not in members, duplicate, key)
            members[key] = _plain(member)
        return members
    return [_plain(item) for item in value] if isinstance(value, list) else value


def fields(value, needed, optional=()):
    """`value` as an object with all of `needed` and perhaps some of `optional`, and nothing else."""
    require(isinstance(value, dict), "json.type", "an object is expected")
    for key in value:
        require(key in needed or key in optional, "json.unknown-key", key)
    for key in needed:
        require(key in value, "json.missing-key", key)
    return value


def typed(value, kind):
    require(isinstance(value, kind), "json.type", f"{kind.__name__} is expected")
    return value


# safetensors ---------------------------------------------------------------------------------------------------------

WIDTHS = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
          "I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}  # fmt: skip
FORMATS = {"U8": "B", "U32": "I", "F32": "f", "F64": "d"}


@dataclass(frozen=True)
class Tensor:
    """The elements as they stand in the file; `values` are exact, for every binary32 is a binary64."""

    dtype: str
    shape: tuple
    data: bytes

    @property
    def values(self):
        return struct.unpack(f"<{math.prod(self.shape)}{FORMATS[self.dtype]}", self.data)


def read_tensors(data):
    """The tensors of a safetensors file, with the extra checks of SPEC section 2."""
    require(len(data) >= 8, "tensors.header")
    (length,) = struct.unpack("<Q", data[:8])
    require(length <= MAX_HEADER_BYTES, "limit.header-bytes")
    require(8 + length <= len(data), "tensors.header", "longer than the file")
    header, body = data[8 : 8 + length], data[8 + length :]
    bare = header.rstrip(b" ")
    spaces = len(header) - len(bare)
    require(spaces == 0 or (spaces <= 7 and length % 8 == 0), "tensors.header", "padding")
    require(bare[:1] == b"{" and bare[-1:] == b"}", "tensors.header", "not one object")
    tensors, ranges = {}, []
    for name, entry in read_json(bare, "tensors.duplicate").items():
        if name == "__metadata__":
            for text in typed(entry, dict).values():
                typed(text, str)
            continue
        fields(entry, ("dtype", "shape", "data_offsets"))
        dtype = typed(entry["dtype"], str)
        require(dtype in WIDTHS, "tensors.dtype", dtype)
        shape = tuple(natural(n) for n in typed(entry["shape"], list))
        require(len(shape) <= MAX_RANK, "limit.rank", name)
        require(math.prod(shape) <= MAX_ELEMENTS, "limit.elements", name)
        ends = [natural(n) for n in typed(entry["data_offsets"], list)]
        require(len(ends) == 2, "tensors.header", "two offsets")
        require(ends[0] <= ends[1] <= len(body), "tensors.layout", name)
        require(ends[1] - ends[0] == math.prod(shape) * WIDTHS[dtype], "tensors.shape", name)
        ranges.append(ends)
        tensors[name] = Tensor(dtype, shape, body[ends[0] : ends[1]])
    at = 0
    for begin, end in sorted(ranges):
        require(begin == at, "tensors.layout", "holes or overlaps")
        at = end
    require(at == len(body), "tensors.layout", "bytes left over")
    return tensors


# Properties ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """Σ coefficient · variable ≤ bound (< where strict); a variable is ("x", i) or ("y", i), in this order."""

    terms: tuple
    bound: Fraction
    strict: bool


@dataclass(frozen=True)
class Property:
    """The region [lower, upper] and the unsafe set: disjuncts, each a list of rows."""

    lower: list
    upper: list
    outputs: int
    unsafe: list

    def __post_init__(self):
        require(self.unsafe, "property.no-disjunct")
        require(all(a <= b for a, b in zip(self.lower, self.upper)), "property.empty-region")


def make_row(coefficients, bound, strict):
    """A row without zero coefficients, its variables in order."""
    terms = tuple(sorted((v, c) for v, c in coefficients.items() if c != 0))
    common = math.lcm(bound.denominator, *(c.denominator for _, c in terms))
    require(common.bit_length() <= MAX_DENOMINATOR_BITS, "limit.denominator-bits")
    return Row(terms, bound, strict)


def read_property_json(data):
    """The JSON form of a property."""
    document = read_json(data)
    require(isinstance(document, dict), "json.type")
    require(document.get("format", "certkern.property.v1") == "certkern.property.v1", "bundle.format", "property")
    fields(document, ("format", "outputs", "lower", "upper", "unsafe"))
    outputs = natural(document["outputs"])
    lower, upper = ([rational(n) for n in typed(document[key], list)] for key in ("lower", "upper"))
    require(max(outputs, len(lower)) <= MAX_VARIABLES, "limit.variables")
    require(len(lower) == len(upper), "json.value", "as many lower ends as upper ends")
    sizes = {"x": len(lower), "y": outputs}
    unsafe = []
    for disjunct in typed(document["unsafe"], list):
        rows = []
        for row in typed(disjunct, list):
            fields(row, ("bound", "strict"), ("x", "y"))
            coefficients = {}
            for side, size in sizes.items():
                for index, coefficient in typed(row.get(side, {}), dict).items():
                    good = re.fullmatch("0|[1-9][0-9]{0,9}", index) and int(index) < size
                    require(good, "property.variable", index)
                    coefficients[side, int(index)] = rational(coefficient)
            rows.append(make_row(coefficients, rational(row["bound"]), typed(row["strict"], bool)))
        unsafe.append(rows)
    return Property(lower, upper, outputs, unsafe)


def read_vnnlib(data):
    """VNN-LIB 1.0: declarations and assertions; see SPEC section 3 for what each form denotes."""
    text = data.decode("utf-8", "replace")  # outside of comments, only ASCII is accepted
    counts, disjuncts = {"X": 0, "Y": 0}, [[]]
    for command in _lists(text):
        require(isinstance(command, list) and command and isinstance(command[0], str), "property.syntax")
        if command[0] == "declare-const":
            require(len(command) == 3 and all(isinstance(c, str) for c in command), "property.syntax")
            require(command[2] == "Real", "property.unsupported", command[2])
            letter = command[1][:1]
            require(letter in counts and command[1] == f"{letter}_{counts[letter]}", "property.variable", command[1])
            counts[letter] += 1
            require(counts[letter] <= MAX_VARIABLES, "limit.variables")
        elif command[0] == "assert":
            require(len(command) == 2, "property.syntax")
            disjuncts = _product(disjuncts, _formula(command[1], counts))
        else:
            raise Rejected("property.unsupported", command[0])
    lower, upper = _hull(disjuncts, counts["X"])
    return Property(lower, upper, counts["Y"], disjuncts)


def _lists(text):
    """The parenthesised lists of the text; a semicolon starts a comment."""
    stack = [[]]
    for token in re.findall(r"[()]|[^()\t\n\r ]+", re.sub(r";[^\n\r]*", " ", text)):
        if token == "(":
            stack.append([])
            require(len(stack) - 1 <= MAX_PROPERTY_DEPTH, "limit.property-depth")
        elif token == ")":
            require(len(stack) > 1, "property.syntax", "parenthesis")
            stack[-2].append(stack.pop())
        else:
            require(len(stack) > 1 and re.fullmatch(r"[!#-'*-:<-~\-]+", token), "property.syntax", token)
            require("|" not in token, "property.syntax", token)
            stack[-1].append(token)
    require(len(stack) == 1, "property.syntax", "parenthesis")
    return stack[0]


def _product(left, right):
    """A's disjuncts times B's, A's index running slowest."""
    require(len(left) * len(right) <= MAX_DISJUNCTS, "limit.disjuncts")

    def bits(d):
        return sum(r.bound.numerator.bit_length() + r.bound.denominator.bit_length() + 64 * len(r.terms) for r in d)

    total = sum(map(bits, left)) * len(right) + sum(map(bits, right)) * len(left)
    require(total <= MAX_ROWS_BITS, "limit.rows")
    return [a + b for a in left for b in right]


def _formula(form, counts):
    """The disjuncts of a formula."""
    require(isinstance(form, list) and form and isinstance(form[0], str), "property.syntax")
    head, *arguments = form
    if head in ("and", "or"):
        require(arguments, "property.syntax", "no argument")
        result = [[]] if head == "and" else []
        for argument in arguments:
            part = _formula(argument, counts)
            result = _product(result, part) if head == "and" else result + part
            require(len(result) <= MAX_DISJUNCTS, "limit.disjuncts")
        return result
    require(head not in ("+", "-", "*"), "property.syntax", "a term for a formula")
    require(head in ("<=", ">=", "<", ">", "="), "property.unsupported", head)
    require(len(arguments) == 2, "property.unsupported", "a comparison has two sides")
    s, t = (_term(argument, counts) for argument in arguments)
    forward, backward = _add(s, t, -1), _add(t, s, -1)
    sides = {"<=": [forward], "<": [forward], ">=": [backward], ">": [backward], "=": [forward, backward]}[head]
    constants = [side.pop((), Fraction(0)) for side in sides]
    return [[make_row(side, -constant, head in "<>") for side, constant in zip(sides, constants)]]


def _add(s, t, factor=1):
    total = dict(s)
    for variable, coefficient in t.items():
        total[variable] = total.get(variable, Fraction(0)) + factor * coefficient
    return total


def _term(form, counts):
    """A linear term: coefficients by variable, the constant under ()."""
    if isinstance(form, str):
        if re.match(r"[-+.0-9]", form):
            return {(): decimal(form, "property.syntax")}
        match = re.fullmatch(r"([XY])_(0|[1-9][0-9]*)", form)
        require(match and len(match[2]) < 9 and int(match[2]) < counts[match[1]], "property.variable", form)
        return {(match[1].lower(), int(match[2])): Fraction(1)}
    require(form and isinstance(form[0], str), "property.syntax")
    head, *arguments = form
    require(head not in ("and", "or", "<=", ">=", "<", ">", "="), "property.syntax", "a formula for a term")
    require(head in ("+", "-", "*"), "property.unsupported", head)
    require(arguments, "property.syntax", "no argument")
    first, *rest = (_term(argument, counts) for argument in arguments)
    if head == "-" and not rest:
        return _add({}, first, -1)
    for other in rest:
        if head == "*":
            if set(first) - {()}:
                first, other = other, first
            require(not set(first) - {()}, "property.unsupported", "a product of variables")
            first = _add({}, other, first[()])
        else:
            first = _add(first, other, -1 if head == "-" else 1)
    return first


def _hull(disjuncts, inputs):
    """For each input the hull over the disjuncts of the bounds that single-variable rows give it."""
    lower, upper = [None] * inputs, [None] * inputs
    for number, disjunct in enumerate(disjuncts):
        low, high = {}, {}
        for row in disjunct:
            if len(row.terms) == 1 and row.terms[0][0][0] == "x":
                ((_, i), c), bound = row.terms[0], row.bound / row.terms[0][1]
                if c > 0:
                    high[i] = min(bound, high.get(i, bound))
                else:
                    low[i] = max(bound, low.get(i, bound))
        for i in range(inputs):
            require(i in low and i in high, "property.unbounded", f"X_{i}")
            lower[i] = low[i] if number == 0 else min(lower[i], low[i])
            upper[i] = high[i] if number == 0 else max(upper[i], high[i])
    return lower, upper
