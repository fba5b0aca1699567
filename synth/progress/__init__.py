"""The pipelines of progress tests: synthesis, labelling, compilation, runs on devices and certificates."""
