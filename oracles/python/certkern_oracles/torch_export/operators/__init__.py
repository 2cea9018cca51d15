"""The table of PyTorch operators. One module of this package is one family; importing it fills the table."""

from . import attention, contraction, elementwise, layout, normalise, pooling, reduction
from .table import TABLE, translate

__all__ = ["TABLE", "attention", "contraction", "elementwise", "layout", "normalise", "pooling", "reduction", "translate"]
