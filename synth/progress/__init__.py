"""The pipelines of progress tests."""
