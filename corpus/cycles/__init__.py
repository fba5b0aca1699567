"""Critical cycles: their edges, the litmus tests that ask for them, and which of them contain which."""
