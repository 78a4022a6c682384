"""Reading and checking manifests, and resolving their data (controller only).

site = load_site("site.yaml")       # InputError with every problem, each with its position
"""

from orchestrator.manifest.loader import load_site
from orchestrator.manifest.site import Site

__all__ = ["Site", "load_site"]
