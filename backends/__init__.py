"""Tests as text for a device, the compilers that accept it, and (in ``runtime``) the devices that run it."""
