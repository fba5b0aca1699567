"""Repairs of litmus tests: what may be changed in a program, what a change costs, and which changes make it right."""
