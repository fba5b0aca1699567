"""How far loops are followed where nothing else is said; apart from all that follows them, for options to name it."""

UNROLL = 2
"""How often a backward jump is taken."""
