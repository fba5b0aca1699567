"""Meaning as clauses, and the solvers that find what satisfies them."""
