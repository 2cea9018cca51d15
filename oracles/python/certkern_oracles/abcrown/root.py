"""The part of a dump that is known once the root has been bounded: the specification, the graph, root bounds and root slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dumpfile import DumpWriter
from .record import TWO_PLANES, Array, RootRecord, Slopes, Tensor, array


class HookError(Exception):
    """Why a run cannot be recorded."""


def check_norm(norm: float) -> None:
    """Refuses a region that is no box, as a HookError."""
    if not math.isinf(norm):
        raise HookError(
            f"specification.norm = {norm:g}: the region is an L{norm:g} ball, and a dump holds a box. "
            "Run with --norm inf, on a property whose box holds the ball"
        )


@dataclass(frozen=True)
class Spec:
    """The problem as the tool holds it, copied before it prunes anything."""

    coefficients: Array
    rhs: Array
    sizes: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, x: Any, coefficients: Tensor, rhs: Tensor, sizes: Tensor | None) -> Spec:
        """From the arguments of `LiRPANet.build`."""
        if coefficients.shape[0] != 1:
            raise HookError(
                "the disjuncts of this property have input boxes of their own, so the tool bounds a root for each; "
                f"one dump holds one root. Split the property into {coefficients.shape[0]} files and dump each"
            )
        rows = coefficients.shape[1]
        given = array(sizes).reshape(-1) if sizes is not None else np.array([rows])
        perturbation = x.ptb
        check_norm(perturbation.norm)
        lower = perturbation.x_L if perturbation.x_L is not None else x
        upper = perturbation.x_U if perturbation.x_U is not None else x
        return cls(array(coefficients), array(rhs).reshape(1, rows), given.astype(np.int32), array(lower)[:1], array(upper)[:1])

    def write(self, out: DumpWriter) -> None:
        """The tensors `spec/…`."""
        out.put("spec/C", self.coefficients)
        out.put("spec/rhs", self.rhs)
        out.put("spec/or_spec_size", self.sizes)
        out.put("spec/x_L", self.lower)
        out.put("spec/x_U", self.upper)


def graph(module: Any) -> dict[str, Any]:
    """The entries of the manifest that describe auto_LiRPA's graph."""
    nodes = []
    for node in module.nodes():
        shape = getattr(node, "output_shape", None)
        nodes.append(
            {
                "name": node.name,
                "type": type(node).__name__,
                "inputs": [parent.name for parent in node.inputs],
                "perturbed": bool(node.perturbed),
                "shape": [int(size) for size in shape] if shape is not None else [],
            }
        )
    roots = set(module.root_names)
    inputs = [node["name"] for node in nodes if node["name"] in roots and node["type"] != "BoundConstant"]
    return {"nodes": nodes, "final_name": module.final_name, "input_name": inputs}


def write_bounds(module: Any, out: DumpWriter) -> dict[str, tuple[Tensor, Tensor]]:
    """The tensors `root/interm/…` of the nodes that activations read, and the same bounds by name."""
    bounds: dict[str, tuple[Tensor, Tensor]] = {}
    roots = [module[name] for name in module.root_names]
    for node in [*roots, *module.layers_requiring_bounds]:
        if not node.perturbed or node.lower is None or node.upper is None or node.name in bounds:
            continue
        bounds[node.name] = (node.lower.detach().clone(), node.upper.detach().clone())
        for side, bound in zip("lu", bounds[node.name]):
            out.put(f"root/interm/{node.name}/{side}", array(bound))
    return bounds


def write_slopes(record: RootRecord, out: DumpWriter) -> dict[str, Any]:
    """The tensors `best_alpha/…`, and the entries of the manifest about them."""
    shapes: list[dict[str, Any]] = []
    best: list[dict[str, Any]] = []
    for slopes in record.slopes.values():
        shapes.append(
            {"act": slopes.act, "type": slopes.kind, "pre": slopes.pre, "start": slopes.start, "shape": slopes.shape,
             "rows": slopes.sparse}
        )
        entry = _write_best(record, slopes, out)
        if entry is not None:
            best.append(entry)
    return {"root_alpha": shapes, "best_alpha": best}


def _write_best(record: RootRecord, slopes: Slopes, out: DumpWriter) -> dict[str, Any] | None:
    places = record.unstable_rows(slopes)
    rows, columns = array(slopes.rows)[places], array(slopes.columns)
    if not len(rows) or not len(columns):
        return None
    prefix = f"best_alpha/{slopes.act}/{slopes.start}"
    out.put(f"{prefix}/rows", rows.astype(np.int32))
    out.put(f"{prefix}/cols", columns.astype(np.int32))
    out.put(f"{prefix}/val", array(slopes.values)[:, places])
    return {"act": slopes.act, "pre": slopes.pre, "start": slopes.start, "rows": len(rows), "cols": len(columns)}


def write_raw_slopes(module: Any, out: DumpWriter) -> None:
    """The tensors `root/alpha/…`: tangent points as the tool left them, of activations with more than two planes."""
    for act in module.get_enabled_opt_act():
        for start, alpha in (getattr(act, "alpha", None) or {}).items():
            if alpha.shape[0] != TWO_PLANES:
                out.put(f"root/alpha/{act.name}/{start}", array(alpha))
