"""Implements the back end for browsers. It is one page that runs a suite with WebGPU, wherever it is opened."""
