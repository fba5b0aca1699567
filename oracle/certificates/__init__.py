"""The checkers of certificates, which share no code with the searches that write them."""
