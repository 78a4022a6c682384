"""Makes the lab's fixtures known to its own tests."""

from .fixtures import host, hosts, lab, needs_lab

__all__ = ["host", "hosts", "lab", "needs_lab"]
