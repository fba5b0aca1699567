"""Implements the back end for OpenCL C, whose devices pyopencl drives."""
