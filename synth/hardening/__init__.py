"""The fences that an application needs, found by running it (Sorensen and Donaldson 2016)."""
