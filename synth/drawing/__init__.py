"""Pictures of transition systems, executions and corpora, as SVG, Graphviz or TikZ text."""
