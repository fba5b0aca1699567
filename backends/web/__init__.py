"""One page that runs a suite with WebGPU, in the browser of whoever opens it."""
