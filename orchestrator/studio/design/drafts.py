"""Unsaved edits of manifests, with undo steps (controller).

They are kept in memory and are lost when ``ccm studio`` ends. Each user has their own drafts.
"""

import threading
from collections.abc import Mapping
from typing import NamedTuple

from orchestrator.studio.design.manifest_text import ManifestText
from orchestrator.studio.design.project_files import MAX_BYTES as MAX_TEXT
from orchestrator.studio.design.project_files import StoredFile
from orchestrator.studio.design.yaml_text import YamlText
from orchestrator.studio.path_guard import refusal

MAX_DRAFTS = 100
MAX_STEPS = 100
MAX_BYTES = 8 << 20  # of the steps of one draft


class Refused(NamedTuple):
    """Input that was refused, stored so that nobody has to type it again."""

    message: str
    fields: Mapping[str, tuple[str, ...]] = {}


class Draft:
    """One user's work on one manifest. ``revision`` counts every change of the draft."""

    def __init__(self, stored: StoredFile, text: str) -> None:
        self.lock = threading.RLock()
        self.stored = stored
        self.revision = 1
        self.secrets: set[str] = set()
        self.refused: Refused | None = None
        self.message = ""
        self._manifest: tuple[str, ManifestText] | None = None
        self._steps = [text]
        self._at = 0

    @property
    def text(self) -> str:
        """The text as it would be saved."""
        return self._steps[self._at]

    @property
    def manifest(self) -> ManifestText:
        """The text with its resources."""
        if self._manifest is None or self._manifest[0] != self.text:
            self._manifest = self.text, ManifestText(YamlText(self.text, self.stored.name))
        return self._manifest[1]

    @property
    def is_changed(self) -> bool:
        """Whether it differs from the file."""
        return self.text != self.stored.text or not self.stored.stamp

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier step."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a later step."""
        return self._at + 1 < len(self._steps)

    def require(self, revision: str) -> None:
        """InputError if the page that sends a form shows an older state of the draft."""
        if revision != str(self.revision):
            message = "this manifest was edited in another window in the meantime"
            hint = "the page shows it now; make your change again"
            raise refusal(message, hint)

    def take(self, text: str) -> None:
        """Store the text as the latest step. InputError if the text is too large."""
        if len(text.encode()) > MAX_TEXT:
            message = f"the manifest would be larger than {MAX_TEXT >> 20} MiB"
            raise refusal(message, "split it")
        self.revision += 1
        if text == self.text:
            return
        self._steps[self._at + 1 :] = [text]
        while len(self._steps) > MAX_STEPS or sum(map(len, self._steps)) > MAX_BYTES:
            if len(self._steps) == 1:
                break
            del self._steps[0]
        self._at = len(self._steps) - 1

    def step(self, by: int) -> None:
        """Undo (-1) or redo (1) a step."""
        self.revision += 1
        self._at = min(max(self._at + by, 0), len(self._steps) - 1)

    def saved(self, stored: StoredFile) -> None:
        """Record that the file now contains the text."""
        self.revision += 1
        self.stored = stored


class Drafts:
    """The drafts of all users; if there are too many, the oldest one is removed. Thread-safe."""

    def __init__(self) -> None:
        self._drafts: dict[tuple[str, str], Draft] = {}
        self._lock = threading.Lock()

    def find(self, user: str, name: str) -> Draft | None:
        """The draft of a user."""
        with self._lock:
            return self._drafts.get((user, name))

    def begin(self, user: str, draft: Draft) -> Draft:
        """Start a new draft unless one exists."""
        with self._lock:
            found = self._drafts.setdefault((user, draft.stored.name), draft)
            while len(self._drafts) > MAX_DRAFTS:
                del self._drafts[next(iter(self._drafts))]
            return found

    def end(self, user: str, name: str) -> None:
        """Forget a draft."""
        with self._lock:
            self._drafts.pop((user, name), None)

    def names(self, user: str) -> list[str]:
        """The manifests that a user has changed but not saved."""
        with self._lock:
            found = [(name, one) for (who, name), one in self._drafts.items() if who == user]
        return sorted(name for name, one in found if one.is_changed)
