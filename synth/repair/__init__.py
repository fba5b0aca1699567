"""Repairs of litmus tests: possible changes, their costs, and the cheapest that suffice."""
