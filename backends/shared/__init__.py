"""Provides what all languages and devices share: renderers, layouts, results and processes."""
