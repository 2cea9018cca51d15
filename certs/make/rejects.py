"""Make `certs/reject` from the accepted cases: `python3 certs/make/rejects.py`. The Python standard library is enough.

Each case is an accepted sibling with one edit: `reject/<code>/<name>`, a bundle, or `reject/<code>/<name>.json`, a document.
Where a case needs further arguments, `<name>.args` holds them, one on each line, with paths from the root of the repository.
The table in `reject/README.md` is made here too."""

from __future__ import annotations

import shutil
from collections import Counter

from bundle import write
from reject import bounds, bundles, certificates, documents, enclosures, graphs, monotone, nodes, properties, tensors, witnesses
from reject.case import CERTS, Case, Maker

HEAD = """\
# Rejected certificates

Every case is one edit away from an accepted sibling in `../accept`, and `certkern check` must reject it with the code that is the
name of its folder. `python3 certs/make/rejects.py` makes all of this again, this table included. A file `<case>.args` holds further
arguments of `certkern check`, one on each line, with paths from the root of the repository.

| code | case | sibling | edit |
|---|---|---|---|
"""


def made() -> list[Case]:
    """All cases, by code and name."""
    make = Maker()
    for module in (documents, graphs, properties, tensors, bundles, certificates, witnesses, enclosures, bounds, nodes, monotone):
        module.cases(make)
    places = Counter((case.code, case.name) for case in make.cases)
    twice = [place for place, count in places.items() if count > 1]
    if twice:
        raise ValueError(f"cases twice: {twice}")
    return sorted(make.cases, key=lambda case: (case.code, case.name))


def main() -> None:
    """Write all cases and the table."""
    out = CERTS / "reject"
    cases = made()
    shutil.rmtree(out, ignore_errors=True)
    for case in cases:
        folder = out / case.code
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(case.content, bytes):
            (folder / f"{case.name}.json").write_bytes(case.content)
        else:
            write(folder / case.name, case.content)
        if case.args:
            (folder / f"{case.name}.args").write_text("\n".join([*case.args, ""]))
    rows = (f"| `{c.code}` | {c.name} | {c.sibling} | {c.words} |\n" for c in cases)
    (out / "README.md").write_text(HEAD + "".join(rows))
    print(f"{len(cases)} cases of {len({case.code for case in cases})} codes")


if __name__ == "__main__":
    main()
