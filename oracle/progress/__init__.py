"""Progress models: their promises, their verdicts on programs, and the reasons for these."""
