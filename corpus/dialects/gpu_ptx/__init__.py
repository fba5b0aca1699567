"""GPU_PTX, the PTX dialect of 2015."""
