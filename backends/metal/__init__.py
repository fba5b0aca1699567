"""Implements the back end for Metal, for the GPUs of Apple's machines."""
