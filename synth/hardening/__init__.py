"""Empirical fence insertion, which finds an application's fences by running it. Its source is Sorensen and Donaldson
2016.
"""
