"""The port to packages asks npm (target)."""

from remote_runtime.resources.package import providers


class Provider(providers.Provider):
    name = "npm"
