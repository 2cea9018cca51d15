"""The six ways in which what α,β-CROWN saves fails to give its bounds again, each provoked on a real run.

  python tests/live_faults.py --abcrown PATH --certkern BINARY --work FOLDER

Needs the environment of α,β-CROWN, `certs/make` beside this folder and a built `certkern`. Every case runs the same search twice: once
with what the tool itself saved and reported put in place of what was recorded ("saved"), once as the hook records it ("hook"). What is
saved of a leaf stands beside the bounds that its optimisation returned; the parent's bounds come in with fault 6 alone. Both dumps are
replayed in float64 and given to the kernel. A leaf counts as lost where the replay on the root bounds that the run claims falls short of
the bound in the dump for the best row by more than 1e-4, and as open where it does not close at all. For fault 5 the replay is on root
bounds made again from the dumped slopes, as the kernel does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
PACKAGE = HERE.parents[1]
MAKE = HERE.parents[3] / "certs" / "make"
SHORT = 1e-4
EXACT = ["--conv_mode", "matrix"]
NO_PRUNING = ["--disable_pruning_in_iteration"]
EVERY_STEP = ["--start_save_best", "-1"]


@dataclass(frozen=True)
class Fault:
    """A case: what goes wrong, the network, the options of α,β-CROWN that provoke it, and which saved numbers are put in place."""

    name: str
    network: str
    options: list[str]
    saved: str


LARGE_STEPS = ["--lr_alpha", "0.3", "--lr_beta", "0.5"]
"""Steps that overshoot, so that the best step of a leaf is seldom the last."""
FEW_HUGE_STEPS = ["--iteration", "6", "--lr_alpha", "1", "--lr_beta", "5"]
FAULTS = [
    Fault("1 deterministic_opt loses the optimised slopes", "single", ["--deterministic_opt", *NO_PRUNING, *EVERY_STEP], "leaf"),
    Fault("2 start_save_best 0.5 skips the first half of the steps", "single", [*NO_PRUNING, *FEW_HUGE_STEPS], "leaf"),
    # With one row for each leaf the written-over bound still names the row that closes.
    Fault("3 pruning_in_iteration writes over closed bounds", "pairs", EVERY_STEP, "leaf"),
    Fault("2+3 both, as is the default", "single", [], "leaf"),
    Fault("4 slopes of the best sum of AND-ed rows", "scaled", [*NO_PRUNING, *EVERY_STEP, *LARGE_STEPS], "leaf"),
    Fault("5 root bounds are the best of all steps", "single", [*NO_PRUNING, *EVERY_STEP, "--lr_init_alpha", "0.5"], "root"),
    # Of a single step the saved numbers are those of the best one, so whatever falls short is the parent's.
    Fault("6 the larger of own and parent's bound is reported", "pairs", [*NO_PRUNING, *EVERY_STEP, "--iteration", "1"], "reported"),
]


def put_saved_in_place(what: str) -> None:
    """Make the hook write what the tool saved."""
    from certkern_oracles.abcrown import hook, leaves, record

    begin_leaf, begin_root, add, call = record.LeafRecord.begin, record.RootRecord.begin, leaves.LeafWriter.add, record.Tap.__call__

    def watched(self: Any, *positional: Any, **named: Any) -> Any:
        found = call(self, *positional, **named)
        if self._depth == 0 and self.observer is not None:
            self.observer.own = found[0].detach().clone()
        return found

    def begin(self: Any, module: Any, arguments: dict[str, Any]) -> None:
        self.module = module
        (begin_leaf if isinstance(self, record.LeafRecord) else begin_root)(self, module, arguments)

    def add_saved(self: Any, domains: Any, reported: Any, kept: Any) -> None:
        if what == "leaf":
            module = kept.module
            for act in module.get_enabled_opt_act():
                if act.name in kept.slopes:
                    kept.slopes[act.name] = (act.alpha[module.final_name].detach()[0::2], kept.slopes[act.name][1])
            for name in kept.multipliers:
                kept.multipliers[name] = module[name].sparse_betas[0].val.detach()
            kept.lower = kept.own
        elif what == "reported":
            kept.lower = reported.clone()
        add(self, domains, reported, kept)

    record.Tap.__call__ = watched
    record.LeafRecord.begin = record.RootRecord.begin = begin
    leaves.LeafWriter.add = add_saved
    if what == "root":
        update = hook.Recording._write_root

        def write_root(self: Any, net: Any, *rest: Any) -> None:
            for (act, start), slopes in self._root.slopes.items():
                slopes.values[:] = record._columns(SAVED[act, start][:, :, 0], slopes.columns)[:, slopes.places]
            update(self, net, *rest)

        hook.Recording._write_root = write_root
        load = hook.load

        def load_and_watch(checkout: Path) -> Any:
            modules = load(checkout)
            solver = modules["beta_CROWN_solver"].LiRPANet
            drop = solver.drop_unused_alpha

            def drop_unused_alpha(net: Any) -> None:
                for act in net.net.get_enabled_opt_act():
                    for start, alpha in act.alpha.items():
                        SAVED.setdefault((act.name, start), alpha.detach().clone())
                drop(net)

            solver.drop_unused_alpha = drop_unused_alpha
            return modules

        import certkern_oracles.abcrown.__main__ as command

        command.load = load_and_watch


SAVED: dict[tuple[str, str], Any] = {}


def write_networks(work: Path) -> None:
    """Three networks, each with nine disjuncts: of one row; of two rows; of two rows, the second of another scale and never closed."""
    import digits
    import live

    for name, radius in (("single", "0.13"), ("pairs", "0.13"), ("scaled", "0.11")):
        (work / name).mkdir(parents=True, exist_ok=True)
        live.write_digits(work / name, radius)
    path = work / "pairs" / "property.vnnlib"
    text = path.read_text()
    for j in range(digits.CLASSES):
        # Class j is to beat the label, and another class as well.
        text = text.replace(f"(and (>= Y_{j} ", f"(and (>= Y_{j} Y_{(j + 5) % digits.CLASSES}) (>= Y_{j} ")
    path.write_text(text)
    write_scaled(work / "scaled")


def write_scaled(folder: Path) -> None:
    """Outputs `label - j` and three times `k - label` for each other class j; what serves the second row, harms the first."""
    import digits
    import live
    import numpy as np
    import vnnlib
    from networks import as_float32, write_gemm_model

    images, labels = digits.digits()
    label, unit = int(labels[live.IMAGE]), np.eye(digits.CLASSES)
    rows, atoms = [], []
    for j in (j for j in range(digits.CLASSES) if j != label):
        k = (j + 5) % digits.CLASSES
        atoms.append(f"    (and (<= Y_{len(rows)} 0) (<= Y_{len(rows) + 1} 10000))")
        rows += [unit[label] - unit[j], 3.0 * (unit[k] - unit[label] if k != label else unit[j])]
    *layers, (weight, bias) = digits.trained_layers()
    last = as_float32(np.array(rows) @ weight), as_float32(np.array(rows) @ bias)
    write_gemm_model(folder / "net.onnx", (1, 1, 8, 8), [*layers, last])
    text = vnnlib.declarations(images.shape[1], len(rows))
    text += vnnlib.box_assertions(digits.decimal_bounds(images[live.IMAGE], "0.11")) + ["(assert (or", *atoms, "))", ""]
    (folder / "property.vnnlib").write_text("\n".join(text))


def replayed(folder: Path, again: bool) -> str:
    """How the leaves of a dump fare in float64, on the root bounds that it claims or (`again`) on those that its slopes give."""
    import check_dump
    import numpy as np
    from crown import intermediate_bounds

    dump = check_dump.read_dump(folder)
    own, _ = intermediate_bounds(dump.network, dump.box)
    made, _ = intermediate_bounds(dump.network, dump.box, given=check_dump.given_slopes(dump, own))
    ends = [[dump.tensors[f"root/interm/{name}/{side}"].reshape(-1) for name in dump.pre] for side in "lu"]
    claimed = check_dump.Bounds(*ends)
    leaves = dump.manifest["leaves"]
    reported = np.array([leaf["lb"] for leaf in leaves]) - np.array([leaf["rhs"] for leaf in leaves])
    rows = np.array(check_dump.row_margins(dump, made if again else claimed))
    short = reported - rows
    best = np.take_along_axis(short, reported.argmax(axis=1)[:, None], axis=1)
    wider = max(float((c - m).max()) for c, m in zip(claimed.lower, made.lower))
    written = np.abs(reported + np.array([leaf["rhs"] for leaf in leaves]) - np.array([leaf["lb_tool"] for leaf in leaves])) > SHORT
    return (
        f"{len(leaves)} leaves, open {int((rows <= 0).all(axis=1).sum())}, lost {int((best > SHORT).sum())}, rows short "
        f"{int((short > SHORT).sum())} of {short.size}, worst {short.max():.2g}, rows unlike the tool's {int(written.sum())}, "
        f"root bound lower than claimed by up to {wider:.2g}"
    )


def kernel(certkern: Path, folder: Path) -> str:
    """The kernel's last line, or why there is none."""
    inputs = ["--onnx", str(folder / "net.onnx"), "--property", str(folder / "property.vnnlib")]
    bundle = folder.with_suffix(".bundle")
    made = subprocess.run([certkern, "import", "abcrown", folder, *inputs, "-o", bundle], capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip().splitlines()[-1][:160]
    checked = subprocess.run([certkern, "check", bundle, *inputs], capture_output=True, text=True)
    lines = (checked.stdout + checked.stderr).splitlines()
    return next((line for line in lines if line.startswith("s ")), "no verdict")[:60]


def run(arguments: argparse.Namespace, fault: Fault, saved: bool) -> None:
    """One search in a process of its own, and what became of its dump."""
    source = arguments.work / fault.network
    folder = arguments.work / f"{fault.name.split()[0].replace('+', '_')}_{'saved' if saved else 'hook'}"
    folder.mkdir(exist_ok=True)
    for name in ("net.onnx", "property.vnnlib"):
        (folder / name).write_bytes((source / name).read_bytes())
    own = ["--saved", fault.saved] if saved else []
    command = [sys.executable, str(HERE), *own, "--abcrown", str(arguments.abcrown), "--out", str(folder), "--keep-settings", "--"]
    options = ["--config", str(source / "config.yaml"), "--onnx_path", str(folder / "net.onnx")]
    options += ["--vnnlib_path", str(folder / "property.vnnlib"), "--results_file", str(folder / "out.txt"), *EXACT, *fault.options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE)}
    if not (arguments.reuse and (folder / "manifest.json").is_file()):
        ended = subprocess.run([*command, *options], env=environment, capture_output=True, text=True)
        if ended.returncode:
            print("    " + "\n    ".join(ended.stderr.splitlines()[-4:]))
            return
    print(f"  {'saved' if saved else 'hook '}: {replayed(folder, fault.saved == 'root')}")
    print(f"         {kernel(arguments.certkern, folder)}", flush=True)


def main() -> int:
    """Run all cases, or, as a child, one search with saved numbers put in place."""
    sys.path[:0] = [str(PACKAGE), str(MAKE)]
    if "--" in sys.argv:
        from certkern_oracles.abcrown import __main__ as command

        own = sys.argv[1:]
        if own[0] == "--saved":
            put_saved_in_place(own[1])
            own = own[2:]
        return command.main(own)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--abcrown", type=Path, required=True, help="the checkout of α,β-CROWN")
    parser.add_argument("--certkern", type=Path, required=True, help="the binary")
    parser.add_argument("--work", type=Path, required=True, help="a folder for networks and dumps")
    parser.add_argument("--only", help="run only the cases whose name starts so")
    parser.add_argument("--reuse", action="store_true", help="judge the dumps that are there, and run only what is missing")
    arguments = parser.parse_args()
    write_networks(arguments.work)
    for fault in FAULTS:
        if fault.name.startswith(arguments.only or ""):
            print(fault.name)
            run(arguments, fault, saved=True)
            run(arguments, fault, saved=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
