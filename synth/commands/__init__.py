"""One module a sub-command. Each defines a click command named ``command``."""
