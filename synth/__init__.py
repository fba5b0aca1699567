"""The command line and the pipelines: parse, plan, call, show."""

from importlib.metadata import version

VERSION = version("synth")
"""Of the installed package; written into what it makes."""
