"""Defines tests, their text formats and the files of a corpus. It imports no other package of the project."""
