"""The assembly of AMD's GPUs."""
