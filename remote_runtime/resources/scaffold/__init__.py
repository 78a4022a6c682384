"""The scaffold type: a directory of rendered templates, complete on the target."""

PORTS = ("choria",)
