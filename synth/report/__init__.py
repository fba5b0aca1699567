"""The report on devices: a page to explore, tables, and files for other programs."""
