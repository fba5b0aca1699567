"""The command line and the pipelines: parse, plan, call, show."""

VERSION = "0.1.0"
"""Of the package, which is built with it; written into what it makes."""
