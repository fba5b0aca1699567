"""Implements the back end for WGSL and WebGPU, through wgpu on this machine or in a browser."""
