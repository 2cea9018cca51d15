"""PyTorch modules as graphs: `torch.export` to `graph.json` and `payload.safetensors`, and state dictionaries with exact matching.

Untrusted. What PyTorch computes and the graph language cannot say exactly is refused by name, never approximated.
"""

from .capture import Captured, capture, capture_program
from .refusal import Refused

__all__ = ["Captured", "Refused", "capture", "capture_program"]
