"""What was seen on devices as one report: a page to explore, tables, and files for other programs."""
