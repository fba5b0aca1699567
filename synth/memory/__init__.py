"""The pipelines of memory tests."""
