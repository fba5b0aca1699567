"""Implements the back end for HIP, for the GPUs of AMD."""
