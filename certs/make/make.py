"""Make all cases: `python make.py OUT` writes a dump with its network and property to OUT/<case>.

Each dump is then replayed as by `check_dump.py`; a leaf that does not close by the margin asked is an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is loaded: sums must not depend on the number of threads

import control
import digits
import small
from check_dump import check

CASES = {"control_boxsplit": control.make, "digits_relusplit": digits.make, "small_relu": small.make}
RELATIVE_MARGIN = 1e-3


def main(out: Path) -> int:
    """Make and check every case; one line is printed for each."""
    for name, make in CASES.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        found = check(folder)
        size = sum(path.stat().st_size for path in folder.iterdir())
        margins = f"worst margin {found.worst_margin:.4g} (relative {found.relative:.3g})"
        print(f"{name}: {found.leaves} leaves, {margins}, {size} bytes")
        if found.relative < RELATIVE_MARGIN:
            print(f"{name}: the margin is too small", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python make.py OUT")
    sys.exit(main(Path(sys.argv[1])))
