"""The documentation and what keeps its reference in step with the code (controller)."""
