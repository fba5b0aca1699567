"""Empirical fence insertion, which finds an application's fences by running it (Sorensen and Donaldson 2016)."""
