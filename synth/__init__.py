"""The command line of synth and its pipelines, which parse tests, plan searches, call the solvers and show results."""

VERSION = "0.1.0"
"""The version of the package, which is written into what it makes."""
