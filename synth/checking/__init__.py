"""Kernels checked: what may race, break or hang in a launch, and at which line of the source."""
