"""Defines critical cycles. It has their edges, their litmus tests, and which of them contain which."""
