"""Child manifests in ccm's own form, the only one there is (target)."""

from remote_runtime import base


class Provider(base.Provider):
    """Always available: the plan holds the child's resources already."""

    name = "ccmmanifest"
