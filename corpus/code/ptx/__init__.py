"""PTX: its modules as data, a reader of its text, and what its instructions mean."""
