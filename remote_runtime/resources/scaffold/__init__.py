"""The scaffold type: a folder of rendered templates, whole on the target."""

PROVIDERS = ("choria",)
