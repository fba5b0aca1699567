"""Tests as text for a device, the compilers that accept it, and the devices that run it."""
