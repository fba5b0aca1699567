"""States which orders, scopes and tags an architecture or language allows for an access, and which of them go
together.
"""
