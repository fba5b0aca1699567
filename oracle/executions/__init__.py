"""Candidate executions of litmus tests, and the judgements of .cat models on them."""
