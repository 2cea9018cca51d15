"""The cases of `certs/reject`, one module for each kind of document. `rejects.py` writes them."""
