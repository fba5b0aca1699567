"""The machine code of NVIDIA's GPUs."""
