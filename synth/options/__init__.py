"""Defines the command-line options that several commands share."""
