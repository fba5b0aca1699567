"""What was run elsewhere, read back: logs of our programs, of litmus7, herd7 and Amber, and files of results."""
