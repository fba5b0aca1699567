"""SPIR-V: modules, binary or text, as data."""
