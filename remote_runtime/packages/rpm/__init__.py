"""What RPM has and what an RPM holds (target)."""
