"""Unknown programs: executions of all programs of a size as clauses, and the questions that are asked of them."""
