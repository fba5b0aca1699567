"""The search for a profile with which a device shows weak outcomes most often."""
