"""The packages that dnf considers dependencies of others, and so may remove with them (target).

dnf 4 keeps the reason of each installation in its history, an SQLite database, which takes a few
milliseconds to read here; dnf itself would take half a second. For dnf 5, dnf is run.
"""

import os
from typing import TYPE_CHECKING, Callable, Dict, Sequence, Set, Tuple

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands

HISTORY = "/var/lib/dnf/history.sqlite"
FORM = "%{name}\t%{arch}\t%{reason}\n"
_NEW = "dnf5"
_FOR_OTHERS = (1, 4)  # libdnf's TransactionItemReason: dependency, weak dependency
_WORDS = ("dependency", "weak dependency")
# The last reason that a package was given counts. Left out are the sides of an item that go: those
# that were downgraded, obsoleted, upgraded or reinstalled.
_QUERY = (
    "SELECT rpm.name, rpm.arch, item.reason FROM trans_item AS item"
    " JOIN trans ON trans.id = item.trans_id JOIN rpm ON rpm.item_id = item.item_id"
    " WHERE trans.state = 1 AND item.action NOT IN (3, 5, 7, 10) ORDER BY item.trans_id, item.id"
)
Key = Tuple[str, str]  # name and architecture


def is_new(commands: "Commands") -> bool:
    """Return whether the host's dnf is dnf 5."""
    return os.path.basename(os.path.realpath(commands.find("dnf"))) == _NEW


def mark(commands: "Commands", name: str) -> Sequence[str]:
    """Return the command that marks a package as manually installed."""
    return ("dnf", "mark", "user" if is_new(commands) else "install", "-y", name)


def automatic(commands: "Commands", ask: Callable[[], str], history: str = HISTORY) -> Set[Key]:
    """Return the packages that are installed only for others.

    ``ask`` has dnf print in the format ``FORM``. ``ResourceError`` if the history cannot be read.
    """
    if is_new(commands):
        return _printed(ask())
    if not os.path.isfile(history):
        return set()  # dnf has installed nothing on this host
    try:
        import sqlite3
    except ImportError:  # a Python that was built without it
        return _printed(ask())
    # Immutable: without a lock, and without a second file. dnf's own writes are short.
    address = "file:%s?mode=ro&immutable=1" % history.replace("?", "%3f").replace("#", "%23")
    try:
        connection = sqlite3.connect(address, uri=True)
        try:
            reasons: Dict[Key, int] = {
                (name, architecture): reason
                for name, architecture, reason in connection.execute(_QUERY)
            }
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise ResourceError(
            "dnf's history %s cannot be read: %s" % (history, error), kind="package.database"
        ) from error
    return {key for key, reason in reasons.items() if reason in _FOR_OTHERS}


def _printed(text: str) -> Set[Key]:
    keys = set()
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[2].strip().lower().replace("-", " ") in _WORDS:
            keys.add((fields[0], fields[1]))
    return keys
