"""CUDA with inline PTX."""
