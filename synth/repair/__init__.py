"""Repairs: what may be changed in a program, what that costs, and which changes make it right."""
