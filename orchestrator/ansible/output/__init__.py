"""The converted site: manifests, their text and the report (controller)."""
