"""The inference of models from facts about tests: the pipelines of synth infer."""
