"""Results of runs elsewhere, read from logs of our programs, litmus7, herd7 and Amber. Files of results are read as
well.
"""
