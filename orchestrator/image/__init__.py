"""Builds the runtime that is sent to targets: a zip, and its modules compiled (controller)."""

from orchestrator.image.builder import Image, build

__all__ = ["Image", "build"]
