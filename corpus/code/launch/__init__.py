"""Launches: ids, grids, arguments, where threads meet, and what a launch tells about its code."""
