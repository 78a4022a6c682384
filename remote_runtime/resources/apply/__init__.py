"""The apply type: child manifests, which the controller puts into the plan."""

PORTS = ("ccmmanifest",)
