"""Tests of the inventory room."""
