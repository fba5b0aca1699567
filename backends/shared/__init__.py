"""What languages and devices have in common: renderers, layouts, results, processes."""
