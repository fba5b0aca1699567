"""Programs that are not given: executions of any program of a size as clauses, and what is asked of them."""
