"""WGSL, for WebGPU: through wgpu on this machine, or in a browser."""
