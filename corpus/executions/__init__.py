"""Executions whose program is not given: what suites that come from models are made of, and their litmus tests."""
