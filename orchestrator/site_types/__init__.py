"""Resource types of a site's own: read, checked and imported (controller).

They stand in ``types/`` beside the manifest, each a folder like ``remote_runtime/resources/TYPE/``.
They are the user's own code, as trusted as the manifest: on the controller they are imported for
``Resource.check``, on targets they run as the built-in types do.
"""

from orchestrator.site_types.folder import FOLDER
from orchestrator.site_types.site_types import SiteType, SiteTypes, types_below, types_in

__all__ = ["FOLDER", "SiteType", "SiteTypes", "types_below", "types_in"]
