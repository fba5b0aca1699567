"""Renders tests as text for a device, and drives its compilers and devices."""
