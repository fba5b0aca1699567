"""C: programs of threads as people write them, read as modules, and what is peculiar to their specialisation."""
