"""Defines progress tests: AXB programs, their text, their names, and their form as litmus tests."""
