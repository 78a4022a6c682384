"""Builds the runtime that is sent to targets: a zip, and its compiled modules (controller)."""

from orchestrator.image.builder import Image, build

__all__ = ["Image", "build"]
