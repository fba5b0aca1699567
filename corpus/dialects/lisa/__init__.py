"""Holds the dialect LISA with scopes, and the bell file that herd7 needs for it."""
