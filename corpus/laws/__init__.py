"""States which orders, scopes and tags an architecture or language allows for an access. It also states which go
together.
"""
