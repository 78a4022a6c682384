"""Edits manifests for ``ccm studio``: what is not touched stays byte for byte (controller)."""
