"""SASS, the machine code of NVIDIA's GPUs, read as litmus tests."""
