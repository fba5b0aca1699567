"""Candidate executions of litmus tests, and what a .cat model says of them."""
