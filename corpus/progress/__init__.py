"""Defines progress tests, which are AXB programs. It has their text, their names, and their form as litmus tests."""
