"""Renders tests as text for a device, and drives the compilers that accept it and the devices that run it."""
