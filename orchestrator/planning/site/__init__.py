"""The manifests of a run and the resources chosen from them (controller)."""
