"""Custom resource types of a site: read, checked and imported (controller).

They are in ``types/`` next to the manifest, each a directory like
``remote_runtime/resources/TYPE/``. They are the user's own code, as trusted as the manifest: the
controller imports them for ``Resource.check``, and targets run them like built-in types.
"""

from orchestrator.site_types.custom_types import SiteType, SiteTypes, types_below, types_in
from orchestrator.site_types.directory import DIRECTORY

__all__ = ["DIRECTORY", "SiteType", "SiteTypes", "types_below", "types_in"]
