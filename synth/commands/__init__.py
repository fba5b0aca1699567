"""The sub-commands of ``synth``, one module each, which defines a click command named ``command``."""
