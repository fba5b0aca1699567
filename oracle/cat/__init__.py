"""The .cat language: its syntax, and its meaning over any relation algebra."""
