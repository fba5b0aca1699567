"""The only code that touches a device. Each module imports its device's library when it is used, not before."""
