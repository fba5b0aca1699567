"""The pipelines of progress tests: synthesis, labels, programs, runs and certificates."""
