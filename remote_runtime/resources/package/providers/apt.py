"""The port to packages asks apt (target)."""

from remote_runtime.resources.package import providers


class Provider(providers.Provider):
    name = "apt"
