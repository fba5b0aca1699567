"""Passes over residual programs, one idea a module."""
