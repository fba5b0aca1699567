"""The oracle: the verdict of each model on a test, and the reasons for it.

It imports no solver, so it stays independent of the searches that it judges.
"""
