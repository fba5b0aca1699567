"""The judge: what each model says of a test, and why.

It imports no solver, so it stays independent of what it judges.
"""
