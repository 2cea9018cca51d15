"""The switches of α,β-CROWN that decide whether leaves can be justified and replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Config = Any
"""α,β-CROWN's nested dictionary of options."""


@dataclass(frozen=True)
class Switch:
    """An option, the value under which leaves can be justified, why, and which other values do as well."""

    path: str
    value: Any
    why: str
    justified: bool = False
    """Whether leaves can be justified with any value; the wanted one only brings the replay closer to what the tool reports."""
    fits: Callable[[Any], bool] | None = None

    def holds(self, found: Any) -> bool:
        """Whether the value needs no change."""
        return self.fits(found) if self.fits else found == self.value


def _unjustified(path: str, value: Any, why: str, fits: Callable[[Any], bool] | None = None) -> Switch:
    return Switch(path, value, why, False, fits)


def _closer(path: str, value: Any, why: str) -> Switch:
    return Switch(path, value, why, True)


_CLIP = "bab.clip_n_verify."
_INPUT = "bab.branching.input_split."
SWITCHES = [
    _unjustified(_CLIP + "clip_input_domain.enabled", False, "boxes cut by half-spaces do not tile; each cut needs a proof of its own"),
    _unjustified(_CLIP + "clip_interm_domain.enabled", False, "bounds of single leaves come from multipliers that the tool keeps to itself"),
    _unjustified(_CLIP + "clip_interm_domain.clip_in_alpha_crown", False, "root bounds use the unsafe set, with hidden multipliers"),
    _unjustified(_CLIP + "final_layer", False, "boxes cut by half-spaces do not tile; each cut needs a proof of its own"),
    _unjustified("bab.cut.enabled", False, "cutting planes come without a derivation"),
    _unjustified(
        "general.complete_verifier",
        "bab",
        "bounds from MIP come without a certificate",
        lambda found: found in ("bab", "input_bab", "auto", "skip"),
    ),
    _unjustified("solver.invprop.apply_output_constraints_to", [], "bounds use the unsafe set, with multipliers that are not dumped"),
    _unjustified("solver.invprop.tighten_input_bounds", False, "boxes are tightened without a certificate"),
    _unjustified("solver.forward.refine", False, "forward bounds come without a certificate"),
    _unjustified("solver.beta-crown.all_node_split_LP", False, "leaves closed by an LP solver have no multipliers in the dump"),
    _unjustified("solver.beta-crown.enable_opt_interm_bounds", False, "leaves with bounds of their own need slopes that are not dumped"),
    _unjustified("bab.recompute_interm", False, "leaves with bounds of their own need slopes that are not dumped"),
    _unjustified("bab.optimized_interm", "", "leaves with bounds of their own need slopes that are not dumped"),
    _unjustified("bab.vanilla_crown", False, "the tool keeps no history of splits"),
    _unjustified("bab.branching.branching_input_and_activation", False, "a tree of ReLU splits and input splits together is not read"),
    _unjustified(_INPUT + "presplit_domains", None, "boxes from a file need not cover the region"),
    _unjustified(_INPUT + "update_rhs_with_attack", False, "leaves are closed against another right-hand side than the property's"),
    _unjustified("specification.rhs_offset", None, "leaves are closed against another right-hand side than the property's"),
    _unjustified("debug.sanity_check", 0, "leaves are closed against another right-hand side than the property's"),
    _unjustified("general.enable_incomplete_verification", True, "the root is then bounded in another place, and not recorded"),
    _unjustified("general.double_fp", False, "the dump holds float32 numbers"),
    _unjustified("solver.crown.activation_bound_option", "adaptive", "other slopes are neither the default ones nor dumped"),
    _unjustified(
        "solver.optimize_disjuncts_separately", False, "the dump holds one set of root bounds for all disjuncts"
    ),
    _closer("general.conv_mode", "matrix", "slopes of convolutions are shared between neurons in patches mode"),
    _closer("general.deterministic_opt", False, "the tool then loses the optimised slopes and multipliers"),
    _closer("solver.start_save_best", -1, "the tool saves slopes of every step, not only of the second half"),
    _closer("solver.skip_with_refined_bound", True, "root bounds are not optimised a second time, unrecorded"),
    _closer("bab.pruning_in_iteration", False, "reported bounds of closed leaves are computed, not written over"),
    _closer(_INPUT + "reorder_bab", False, "boxes are bounded after they are split"),
]


def read(config: Config, path: str) -> Any:
    """The value of an option; KeyError if this version has no such option."""
    for part in path.split("."):
        config = config[part]
    return config


def write(config: Config, path: str, value: Any) -> None:
    """Set an option."""
    *parents, last = path.split(".")
    for part in parents:
        config = config[part]
    config[last] = value


@dataclass(frozen=True)
class Changes:
    """What was set, and what was left on although its leaves cannot be justified; each as a line for the user."""

    changed: list[str]
    unjustified: list[str]


def apply(config: Config, *, keep: bool) -> Changes:
    """Compare the options with the table above and, unless `keep`, set them."""
    return _apply(SWITCHES, config, keep=keep)


def _apply(switches: list[Switch], config: Config, *, keep: bool) -> Changes:
    changed: list[str] = []
    unjustified: list[str] = []
    for switch in switches:
        try:
            found = read(config, switch.path)
        except KeyError:
            # An option that this version lacks cannot be on.
            continue
        if switch.holds(found):
            continue
        if not keep:
            write(config, switch.path, switch.value)
            changed.append(f"{switch.path}: {found!r} -> {switch.value!r} ({switch.why})")
        elif not switch.justified:
            unjustified.append(f"{switch.path} = {found!r}: {switch.why}")
    return Changes(changed, unjustified)


def apply_for_split(config: Config, *, keep: bool) -> Changes:
    """Compare and, unless `keep`, set the options that depend on how the search splits, which the tool may decide late."""
    by_input = bool(read(config, _INPUT + "enable"))
    switches = [
        _unjustified(
            "solver.bound_prop_method",
            "crown" if by_input else "alpha-crown",
            "leaf boxes are replayed with default slopes" if by_input else "only these slopes are dumped",
        )
    ]
    if by_input:
        # For neurons without a sign change the tool else takes one interval step from the CROWN bounds of the layer before, if all
        # boxes of the batch agree; that can be tighter than CROWN and plain interval propagation together.
        switches.append(_closer("general.sparse_interm", False, "bounds of a box depend on the other boxes of its batch"))
    return _apply(switches, config, keep=keep)


def resolve_auto(config: Config, input_size: int) -> list[str]:
    """Decide what `complete_verifier: auto` means, without MIP refinement; the lines to tell the user."""
    if read(config, "general.complete_verifier") != "auto":
        return []
    by_input = input_size <= read(config, _INPUT + "input_dim_threshold")
    write(config, "general.complete_verifier", "input_bab" if by_input else "bab")
    write(config, _INPUT + "enable", by_input)
    write(config, "bab.branching.method", "sb" if by_input else "kfsb")
    splits = "input splits" if by_input else "ReLU splits"
    return [f"general.complete_verifier: 'auto' means {splits} here; MIP refinement is not used"]
