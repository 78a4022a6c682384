"""The canonical form of YAML files: manifests, inventories and data files (controller)."""
