"""Benchmarks of single types: costs of what is as desired, and packages in one transaction."""
