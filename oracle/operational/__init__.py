"""The two operational models of GPU memory of Sorensen 2013, as transition systems."""
