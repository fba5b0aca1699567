"""The two families of tests behind one interface: all that commands know of them."""
