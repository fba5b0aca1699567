"""Implements the back end for WGSL and WebGPU. Shaders run through wgpu on this machine, or in a browser."""
