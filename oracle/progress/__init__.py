"""Progress models: what they promise, what they say of a program, and why."""
