"""Service discovery (controller): what stable resources announce, and who asks for it.

``Entry`` is one announced endpoint, a ``Store`` keeps entries, ``Publisher`` hands the stable ones
of a run to it, ``Lookup`` answers the templates of a run.
"""

from orchestrator.registration.entry import Entry, Query
from orchestrator.registration.lookup import Lookup
from orchestrator.registration.publisher import Publisher
from orchestrator.registration.store import RegistrationError, Store, open_store

__all__ = [
    "Entry",
    "Lookup",
    "Publisher",
    "Query",
    "RegistrationError",
    "Store",
    "open_store",
]
