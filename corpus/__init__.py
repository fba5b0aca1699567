"""What a test is, and its texts. Imports nothing of ours."""
