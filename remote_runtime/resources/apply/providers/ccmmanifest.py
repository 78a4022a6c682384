"""Child manifests in ccm's own form, the only one there is (target)."""

from remote_runtime.base import Properties
from remote_runtime.base import Provider as BaseProvider


class Provider(BaseProvider):
    """Always available: the plan holds the child's resources already."""

    name = "ccmmanifest"

    def unmanageable(self, properties: Properties) -> str:
        return ""
