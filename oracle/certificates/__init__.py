"""What makes a certificate valid: checked with nothing that a search uses."""
