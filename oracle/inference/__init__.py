"""Sketches, which are .cat models with holes, and the sets of their models that give a test a verdict."""
