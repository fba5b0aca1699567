"""What the dialects of C share: a reader and a printer of threads that are functions."""
