"""Benchmarks of single types: unchanged resources, and packages in one transaction."""
