"""Wrappers around α,β-CROWN: they look on, call the original, and write down what it did."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from . import root, settings
from .boxes import BoxWriter
from .dumpfile import DumpWriter
from .leaves import LeafWriter
from .record import LeafRecord, RootRecord, Tap, array
from .root import HookError, Spec

NEEDED = {
    "abcrown": ["ABCROWN", "vnnlibHandler"],
    "arguments": ["Config"],
    "beta_CROWN_solver": ["LiRPANet.build", "LiRPANet.update_bounds", "LiRPANet.drop_unused_alpha"],
    "input_split.batch_branch_and_bound": ["get_bounds"],
    "utils": ["Logger.summarize_results"],
    "auto_LiRPA": ["BoundedModule.compute_bounds", "BoundedModule.get_enabled_opt_act", "BoundedModule.nodes"],
}
"""What is wrapped or read, by module."""
TESTED = "α,β-CROWN 8250d5f with auto_LiRPA 9d100ec"


def find(checkout: Path) -> None:
    """Make the modules of the user's own checkout importable; a HookError names the folder that is missing."""
    verifier = next((p for p in (checkout / "complete_verifier", checkout) if (p / "abcrown.py").is_file()), None)
    if verifier is None:
        raise HookError(f"{checkout} holds no complete_verifier/abcrown.py; --abcrown is the folder that git clone made")
    if not (verifier / "auto_LiRPA" / "__init__.py").is_file() and not (checkout / "auto_LiRPA").is_dir():
        raise HookError(f"{checkout}/auto_LiRPA is empty; run `git submodule update --init` in {checkout}")
    sys.path[:0] = [str(verifier), str(checkout / "auto_LiRPA")]


def load(checkout: Path) -> dict[str, ModuleType]:
    """Import the user's own checkout.

    A HookError names the folder, the package or the attribute that is missing."""
    find(checkout)
    modules: dict[str, ModuleType] = {}
    for name, attributes in NEEDED.items():
        try:
            modules[name] = importlib.import_module(name)
        except ImportError as error:
            raise HookError(f"α,β-CROWN cannot be imported: {error}. Install its requirements into this environment") from error
        for path in attributes:
            found: Any = modules[name]
            for part in path.split("."):
                found = getattr(found, part, None)
            if found is None:
                raise HookError(f"this version of α,β-CROWN has no {name}.{path}; the hook was written for {TESTED}")
    accept_plain_onnx2pytorch()
    return modules


def accept_plain_onnx2pytorch() -> None:
    """Let the package onnx2pytorch of the Python package index do where the tool's own fork is not installed.

    The tool passes `quirks`, which only the fork knows; where they are empty, they can be left out. A wrong conversion could lose a proof
    but not make a false one, for the certificate is checked against the ONNX file."""
    package = importlib.import_module("onnx2pytorch")
    convert = package.ConvertModel
    if "quirks" in inspect.signature(convert).parameters:
        return

    def without_quirks(model: Any, *positional: Any, quirks: dict[str, Any] | None = None, **named: Any) -> Any:
        if quirks:
            raise HookError(f"the quirks {quirks} need the fork of onnx2pytorch that α,β-CROWN asks for, and another one is installed")
        return convert(model, *positional, **named)

    package.ConvertModel = without_quirks


class Recording:
    """One dump of one run, from the first bound to the verdict."""

    def __init__(self, out: DumpWriter, modules: dict[str, ModuleType], config: Any, *, keep: bool, say: Callable[[str], None]) -> None:
        self._out, self._modules, self._config, self._keep, self._say = out, modules, config, keep, say
        self._net: Any = None
        self._tap: Tap | None = None
        self._root = RootRecord()
        self._manifest: dict[str, Any] = {}
        self._leaves: LeafWriter | None = None
        self._boxes: BoxWriter | None = None
        self.status = "interrupted"
        """α,β-CROWN's own word for how the run ended."""
        self.changed: list[str] = []
        self.unjustified: list[str] = []

    def note(self, changes: settings.Changes) -> None:
        """Tell the user what was changed, or is on although it should not be."""
        for line in changes.changed:
            self._say(f"set {line}")
        for line in changes.unjustified:
            self._say(f"WARNING: leaves cannot be justified, the dump will be partial: {line}")
        self.changed += changes.changed
        self.unjustified += changes.unjustified

    def install(self) -> None:
        """Put the wrappers in place."""
        solver = self._modules["beta_CROWN_solver"].LiRPANet
        splitter = self._modules["input_split.batch_branch_and_bound"]
        main = self._modules["abcrown"]
        logger = self._modules["utils"].Logger
        handler, build, update, bounds = main.vnnlibHandler, solver.build, solver.update_bounds, splitter.get_bounds
        summarize, drop = logger.summarize_results, solver.drop_unused_alpha

        def vnnlib_handler(*positional: Any, **named: Any) -> Any:
            made = handler(*positional, **named)
            self._decide(made)
            return made

        def build_root(net: Any, x: Any, c: Any, rhs: Any, *positional: Any, **named: Any) -> Any:
            return self._build(build, net, x, c, rhs, positional, named)

        def update_bounds(net: Any, domains: dict[str, Any], *positional: Any, **named: Any) -> Any:
            if net is not self._net or named.get("shortcut") or self._leaves is None:
                return update(net, domains, *positional, **named)
            return self._update(update, net, domains, positional, named)

        def get_bounds(net: Any, lowest: Any, lower: Any, upper: Any, alphas: Any, cs: Any, thresholds: Any, *rest: Any, **named: Any) -> Any:
            found = bounds(net, lowest, lower, upper, alphas, cs, thresholds, *rest, **named)
            if self._boxes is not None:
                self._boxes.add(found[0], lower, upper, cs, thresholds)
            return found

        def summarize_results(kept: Any, status: str, *rest: Any) -> Any:
            self.status = status
            return summarize(kept, status, *rest)

        main.vnnlibHandler, logger.summarize_results = vnnlib_handler, summarize_results
        def drop_unused_alpha(net: Any) -> Any:
            if net is self._net and self._leaves is None:
                root.write_raw_slopes(net.net, self._out)
            return drop(net)

        solver.build, solver.update_bounds, solver.drop_unused_alpha = build_root, update_bounds, drop_unused_alpha
        splitter.get_bounds = get_bounds

    def finish(self) -> None:
        """Write the manifest, or nothing where there is nothing to prove; say what was written."""
        status = self.status
        if self._leaves is None or self._boxes is None or status.startswith("unsafe"):
            self._out.discard()
            reason = "the run found a counterexample" if status.startswith("unsafe") else "no root was bounded"
            self._say(f"no dump: {reason} (status {status})")
            return
        self._boxes.finish()
        counts = {**self._leaves.counts, **self._boxes.counts}
        if self._leaves.not_closed:
            self.unjustified.append(f"{self._leaves.not_closed} leaves that no single step of the optimisation closed")
        if counts["interm_mismatch"]:
            self.unjustified.append(f"{counts['interm_mismatch']} leaves with intermediate bounds of their own")
        complete = status.startswith("safe") and not self.unjustified
        self._out.finish(
            {"status": status, "complete": complete, "unjustified": self.unjustified, "settings": self.changed, **self._manifest,
             "counts": counts}
        )
        kind = "complete" if complete else "PARTIAL"
        self._say(f"{kind} dump in {self._out.folder}: {counts['relu_leaves']} leaves, {counts['boxes']} boxes, status {status}")
        for line in self.unjustified:
            self._say(f"not justified: {line}")

    def _decide(self, handler: Any) -> None:
        """Once the size of the input is known: how `auto` splits, and the method of bounding that this needs."""
        size = int(np.prod(handler.input_shape[1:]))
        if self._keep:
            if settings.read(self._config, "general.complete_verifier") == "auto":
                self.note(settings.Changes([], ["general.complete_verifier = 'auto': may refine bounds by MIP, without a certificate"]))
        else:
            self.note(settings.Changes(settings.resolve_auto(self._config, size), []))
        self.note(settings.apply_for_split(self._config, keep=self._keep))

    def _build(self, build: Callable[..., Any], net: Any, x: Any, c: Any, rhs: Any, positional: Any, named: Any) -> Any:
        if self._net is not None:
            raise HookError("the run has a second instance, and a dump holds one; choose it by --start and --end or --select_instance")
        spec = Spec.of(x, c, rhs, named.get("or_spec_size"))
        self._net = net
        self._tap = Tap(net.net)
        self._tap.observer = self._root
        try:
            result = build(net, x, c, rhs, *positional, **named)
        finally:
            self._tap.observer = None
        if result[0] is None:
            # An attack between plain CROWN and the optimisation found a counterexample.
            return result
        self._write_root(net, spec, c if self._root.spec is None else self._root.spec, result[0])
        return result

    def _write_root(self, net: Any, spec: Spec, rows: Any, bound: Any) -> None:
        spec.write(self._out)
        self._out.put("root/C", array(rows))
        self._out.put("root/x_L", spec.lower)
        self._out.put("root/x_U", spec.upper)
        lowest = array(bound).reshape(spec.rhs.shape)
        if self._root.first is not None:
            # The tool writes +∞ for every row of a disjunct that plain CROWN closed, and so hides which row did it.
            lowest = np.where(np.isposinf(lowest), array(self._root.first).reshape(spec.rhs.shape), lowest)
        self._out.put("root/lb", lowest)
        bounds = root.write_bounds(net.net, self._out)
        fast = bool(settings.read(self._config, "solver.bound_prop_method") == "alpha-crown" and self._root.spec is None)
        self._manifest = {
            **root.write_slopes(self._root, self._out),
            "fast_path_initial_crown": fast,
            **root.graph(net.net),
            "norm": "inf",
        }
        columns = {act: slopes.columns for (act, start), slopes in self._root.slopes.items() if start == net.net.final_name}
        width = int(spec.sizes.max())
        self._leaves = LeafWriter(self._out, width, bounds, columns)
        self._boxes = BoxWriter(self._out, width)
        # The best slopes are on disk; the search may need the memory.
        self._root = RootRecord()

    def _update(self, update: Callable[..., Any], net: Any, domains: dict[str, Any], positional: Any, named: Any) -> Any:
        record = LeafRecord(domains["thresholds"])
        self._tap.observer = record
        try:
            result = update(net, domains, *positional, **named)
        finally:
            self._tap.observer = None
        self._leaves.add(domains, result["lower_bounds"][net.final_name].detach(), record)
        return result
