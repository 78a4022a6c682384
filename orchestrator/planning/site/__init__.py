"""The manifests of a run and the resources selected from them (controller)."""
