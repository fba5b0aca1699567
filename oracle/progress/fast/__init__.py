"""Progress tests and verdicts on whole numpy arrays: large transition systems, and many small programs at once."""
