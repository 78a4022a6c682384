"""The port to packages asks pip (target)."""

from remote_runtime.resources.package import providers


class Provider(providers.Provider):
    name = "pip"
