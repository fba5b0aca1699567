"""The assembly of Armv8."""
