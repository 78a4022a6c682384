"""Packages of programming languages, in directories of their own."""
