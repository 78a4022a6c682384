"""What the package lists say about versions, each asked for once (target)."""

from typing import Callable, Dict, List, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import simulation as apt_simulation

Version = Tuple[str, str]
"""A package and its version."""


class ListedTexts(object):
    """Keeps the output of ``apt-cache show``; ``query`` runs it for words such as ``a=1.0``."""

    def __init__(self, query: Callable[[Sequence[str]], str]) -> None:
        self._query = query
        self._known: Dict[Version, List[str]] = {}
        self._apart = False  # whether a question about more than necessary failed

    def of(self, wanted: Sequence[Version], native: str, soon: Sequence[Version] = ()) -> str:
        """The text about these versions. If one is not known yet, it also asks for those that will
        be needed ``soon``, unless that fails."""
        missing = [version for version in wanted if version not in self._known]
        more = [one for one in soon if one not in self._known] if not self._apart else []
        if missing:
            try:
                self._ask([*missing, *more], native)
            except ResourceError:
                self._apart = True
                self._ask(missing, native)
        return "\n\n".join(text for version in wanted for text in self._known[version])

    def _ask(self, versions: Sequence[Version], native: str) -> None:
        words = ["%s=%s" % version for version in dict.fromkeys(versions)]
        records = apt_simulation.all_by_version(self._query(["show", *words]), native)
        self._known.update((version, records.get(version, [])) for version in versions)
