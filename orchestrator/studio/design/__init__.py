"""Edits manifests for ``ccm studio``: all other text is preserved byte for byte (controller)."""
