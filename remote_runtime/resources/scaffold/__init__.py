"""The scaffold type: a directory of rendered templates, whole on the target."""

PORTS = ("choria",)
