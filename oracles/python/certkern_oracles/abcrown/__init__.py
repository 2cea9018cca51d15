"""Dumps of α,β-CROWN runs: what every closed leaf of a search rests on, in the raw format `abdump-0`.

`python -m certkern_oracles.abcrown --help` says how to use it. Nothing here is trusted: the importer reads the dump, and the kernel
proves every leaf again.
"""
