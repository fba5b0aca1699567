"""The command line and the pipelines: parse, plan, call, show."""
