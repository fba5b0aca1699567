"""Implements the back end for CUDA with inline PTX, for the GPUs of NVIDIA."""
