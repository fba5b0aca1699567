"""The pipelines of memory tests: synthesis, comparison, mappings, runs, certificates."""
