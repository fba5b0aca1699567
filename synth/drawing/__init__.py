"""Pictures of transition systems, of executions and of corpora, as SVG, Graphviz or TikZ text."""
