"""Untrusted companions of certkern. `reference` is a second checker in exact fractions."""
