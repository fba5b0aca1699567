"""Metal, for the GPUs of Apple's machines."""
