"""The output of commands on a terminal or as a document: tables, bars, remarks, and reports in words."""
