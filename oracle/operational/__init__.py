"""The operational models of Sorensen 2013."""
