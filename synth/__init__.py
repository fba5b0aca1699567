"""The command line of synth, and the pipelines that synthesise, judge, run and show tests."""

VERSION = "0.1.0"
"""The version of the package, which is written into what it makes."""
