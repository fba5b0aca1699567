"""The pipelines of memory tests: synthesis, labelling, comparison of models, mappings, runs on devices and
certificates.
"""
