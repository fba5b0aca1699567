"""The changes between two choices of results, test by test. The choices may be two devices, drivers, compilers or
dates.
"""
