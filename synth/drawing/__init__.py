"""Pictures: transition systems, executions and plots."""
