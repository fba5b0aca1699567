"""Implements the back end for browsers: one page that runs a suite with WebGPU, wherever it is opened."""
