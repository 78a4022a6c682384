"""Fixtures that every test may use; lab hosts boot only when a test asks for them."""

from tests.lab.fixtures import host, hosts, lab, needs_lab

__all__ = ["host", "hosts", "lab", "needs_lab"]
