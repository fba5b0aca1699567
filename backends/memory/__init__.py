"""Memory (litmus) tests as kernels, and where their threads and instances go in a launch."""
