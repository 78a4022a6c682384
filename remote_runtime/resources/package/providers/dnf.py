"""The port to packages asks dnf (target)."""

from remote_runtime.resources.package import providers


class Provider(providers.Provider):
    name = "dnf"
