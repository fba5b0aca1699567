"""OpenCL C, through pyopencl."""
