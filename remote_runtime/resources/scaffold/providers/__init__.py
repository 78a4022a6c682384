"""The ways to manage a scaffold."""
