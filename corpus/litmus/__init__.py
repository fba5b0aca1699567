"""Litmus tests, whatever the dialect: what one is, its outer text and condition, and when two are the same."""
