"""Assembly of C litmus tests as compilers leave it, whatever the processor."""
