"""Results of runs elsewhere, read from logs of our programs, of litmus7, herd7 and Amber, and from files of results."""
