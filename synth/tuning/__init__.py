"""How a device is launched so that weak outcomes are seen most often: the search for a profile."""
