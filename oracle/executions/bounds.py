"""The default bound on loops, in a module of its own so that options can name it without loading the unroller."""

UNROLL = 2
"""The default number of times that each backward jump is taken."""
