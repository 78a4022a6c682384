"""The repository type: a source of packages and its key (target; ``check`` on both sides).

The key is in place before the file that names it, and is removed after it.
"""

import posixpath
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.packages import repository_paths
from remote_runtime.resources.repository import conflicts, deb822, openpgp_keys, repo_file, rules
from remote_runtime.stdlib_light.sha256_digest import sha256

MODE = 0o644
_PRIVATE = 0o600  # of a file with a password


class Key(NamedTuple):
    """The desired key on the host: its path, and its bytes; None if the existing ones are
    correct."""

    path: str
    data: Optional[bytes]


class Resource(StateType):
    """One repository."""

    secret = ("password",)
    lists = True
    _read_text: Optional[str] = None  # the last parsed text, and its state
    _read_state: Optional[Dict[str, Any]] = None
    _installed = ""  # the key file that the repository's file names
    _found_keys: List[str] = []  # their fingerprints
    _is_same = False  # whether that file has the very bytes of the key
    _source: Optional[bytes] = None  # the key, if it is read from a path of the host

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(properties)

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        return rules.warnings(properties)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        if properties.get("ensure") == "absent":
            return []
        manager = "apt" if properties.get("suites") else "dnf"
        return [(repository_paths.sources(manager, name), True)]

    @classmethod
    def claims(cls, name: str, properties: Properties) -> List[str]:
        if properties.get("ensure") == "absent" or not properties.get("key"):
            return []
        return repository_paths.keys("apt" if properties.get("suites") else "dnf", name)

    @property
    def _path(self) -> str:
        return repository_paths.sources(self.provider, self.name)

    def unsupported(self, host: HostReader) -> str:
        """See the base class. Finds properties of the other package manager, and missing ones of
        this one.
        """
        if self.ensure == "absent" or not self.properties:
            return ""
        other = "dnf" if self.provider == "apt" else "apt"
        strange = [key for key in rules.ONLY[other] if key in self.properties]
        if strange:
            return "%s is a property for %s; this host uses %s" % (strange[0], other, self.provider)
        if self.provider == "apt" and not (self.properties.get("suites") and self._has_url()):
            return "url and suites are required on a host with apt"
        return ""

    @property
    def _mode(self) -> int:
        return _PRIVATE if self.properties.get("password") else MODE

    def _has_url(self) -> bool:
        return bool(self.properties.get("url") or self.properties.get("urls"))

    # -- reading ----------------------------------------------------------------------------------

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. The entry, the key with its fingerprint, and whether the package
        lists are current.
        """
        source = str(self.properties.get("key") or "")
        if source.startswith("/"):
            self._source = host.files.read(source, openpgp_keys.LARGEST)
        node = host.files.lstat(self._path)
        if node is None:
            return None
        text = host.files.read(self._path).decode("utf-8", "replace")
        state = self._parsed(text)
        if state is None:
            return None
        state["type"] = node.kind
        state["mode"] = "%04o" % (node.mode & 0o7777)
        key_paths = state["signed_by"] or ()
        own = [
            path for path in repository_paths.keys(self.provider, self.name) if path in key_paths
        ]
        self._installed, self._found_keys = own[0] if own else "", []
        self._is_same = False
        state["fingerprint"] = state["key"] = state["key_mode"] = None
        key = host.files.lstat(self._installed) if self._installed else None
        if key is not None and key.kind == "file":
            data = host.files.read(self._installed, openpgp_keys.LARGEST)
            wanted = self._known_key()
            self._is_same = wanted == Key(self._installed, data) and not self._why_refused()
            if not self._is_same:  # otherwise no name is needed to distinguish it
                state["key"] = _digest(data)
                self._found_keys = _fingerprints(data)
                state["fingerprint"] = ", ".join(self._found_keys) or None
            state["key_mode"] = "%04o" % (key.mode & 0o7777)
        reads = self.ensure != "absent" and self.properties.get("enabled") is not False
        if self.properties and reads:
            state["lists"] = "outdated" if host.lists.pending(self.provider) else "current"
        return state

    def _parsed(self, text: str) -> Optional[Dict[str, Any]]:
        """Return the file's settings of the repository, None if there are none."""
        if text != self._read_text:  # a converged one is the very text that is desired
            self._read_text, self._read_state = text, self._parse(text)
        return None if self._read_state is None else dict(self._read_state)

    def _parse(self, text: str) -> Optional[Dict[str, Any]]:
        if self.provider != "apt":
            section = repo_file.sections(text).get(self.name)
            return None if section is None else repo_file.state_of(section)
        stanzas = deb822.read(text)
        state = deb822.state_of(stanzas[0] if stanzas else {})
        state["stanzas"] = len(stanzas)
        return state

    def desired(self) -> Mapping[str, Any]:
        key = self._known_key()
        return self._desired(self._signed_by(key), key)

    def _desired(self, signed_by: List[str], key: Optional[Key]) -> Dict[str, Any]:
        state = dict(self._parsed(self._section(signed_by)) or {})
        state.update(type="file", mode="%04o" % self._mode)
        if self.properties.get("key"):
            state["key_mode"] = "%04o" % MODE
        if self.properties.get("enabled") is not False:
            state["lists"] = "current"
        if key is None and self.properties.get("key"):
            del state["signed_by"]  # it depends on the form of the key
        elif key is None:
            state["fingerprint"] = state["key"] = None
        if self._is_same:
            state.pop("key", None)
            state.pop("fingerprint", None)
            return state
        if self.properties.get("fingerprint"):
            wanted = rules.fingerprints(self.properties["fingerprint"])
            same = sorted(wanted) == sorted(self._found_keys)
            state["fingerprint"] = ", ".join(self._found_keys if same else wanted)
        if key is not None and key.data is not None:
            state["key"] = _digest(key.data)
            if not self._why_refused():
                state["fingerprint"] = ", ".join(_fingerprints(key.data)) or None
        return state

    def _section(self, signed_by: List[str]) -> str:
        """Return the text of the desired state."""
        if self.provider == "apt":
            return deb822.written(deb822.stanza_of(self.properties, signed_by))
        return repo_file.written(self.name, self.properties, signed_by)

    def _signed_by(self, key: Optional[Key]) -> List[str]:
        return [key.path] if key is not None else list(self.properties.get("signed_by") or [])

    # -- the key ----------------------------------------------------------------------------------

    def _known_key(self) -> Optional[Key]:
        """Return the key if it is known without reading from the host or a server."""
        key = self.properties.get("key")
        if not key:
            return None
        data = rules.inline(key) if self._source is None else self._source
        if data is not None:
            return self._placed(data)
        expected = self.properties.get("fingerprint")
        wanted = rules.fingerprints(expected) if expected else [""]
        if self._installed and sorted(self._found_keys) == sorted(wanted):
            return Key(self._installed, None)
        return None

    def _placed(self, data: bytes) -> Key:
        """A key in the form, and at the path, that the package manager requires."""
        places = repository_paths.keys(self.provider, self.name)
        data = openpgp_keys.canonical(data)
        if self.provider == "apt":
            return Key(places[0 if openpgp_keys.is_armored(data) else 1], data)
        return Key(places[0], data if openpgp_keys.is_armored(data) else openpgp_keys.armored(data))

    def _key(self, host: HostReader) -> Optional[Key]:
        """The key, read from the host or from a server if necessary. ``ResourceError``."""
        known = self._known_key()
        key = self.properties.get("key")
        if not key or (known is not None and self._source is None):
            return known
        data = self._source
        if data is None:
            reads = host.files.read if key.startswith("/") else host.downloads.read
            data = reads(key, openpgp_keys.LARGEST)
        reason = self._why_not(data)
        if reason:
            raise _refused(key, reason)
        return self._placed(data)

    def _why_refused(self) -> str:
        """Return the problem of the key at a path on the host, "" if it has none or the path does
        not exist.
        """
        return "" if self._source is None else self._why_not(self._source)

    def _why_not(self, data: bytes) -> str:
        """Return the reason why this is not the expected key, "" if it is."""
        expected = self.properties.get("fingerprint")
        try:
            keys = openpgp_keys.read(data)
        except ValueError as error:
            return str(error)
        return rules.compare(keys, expected) if expected else ""

    # -- changing ---------------------------------------------------------------------------------

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Writes the key first, then the entry, then refreshes the lists. Warns
        about conflicting entries.
        """
        key = self._key(host)
        signed_by = self._signed_by(key)
        wanted = self._desired(signed_by, key)
        if diff.keys != ["lists"]:
            self._require_keys(host, key, signed_by)
            for line in conflicts.find(host, self.provider, self.name, wanted):
                host.warn(line)
            before = self._installed
            self._write_key(host, key)
            self._write(host, signed_by)
            if before and before not in signed_by:
                self._remove_key(host, before)
            if wanted["enabled"]:
                host.lists.outdate(self.provider, self.name)
        if wanted["enabled"] and host.lists.pending(self.provider):
            host.lists.refresh(self.provider)

    def _require_keys(self, host: Host, key: Optional[Key], signed_by: List[str]) -> None:
        for path in signed_by if key is None else ():
            if path.startswith("/") and not host.files.exists(path):
                raise ResourceError(
                    "the key %s does not exist" % path,
                    kind="resource.missing",
                    hint="install it in an earlier resource, or use key",
                )

    def _write_key(self, host: Host, key: Optional[Key]) -> None:
        if key is None:
            return
        node = host.files.lstat(key.path)
        if key.data is None:  # the one that is there
            if node is not None and node.mode & 0o7777 != MODE:
                host.files.set_attributes(key.path, MODE, -1, -1)
            return
        _make_directory(host, posixpath.dirname(key.path))
        same = node is not None and node.kind == "file" and node.mode & 0o7777 == MODE
        if not same or host.files.read(key.path, openpgp_keys.LARGEST) != key.data:
            host.files.write(key.path, key.data, mode=MODE, firm=True)

    def _write(self, host: Host, signed_by: List[str]) -> None:
        node = host.files.lstat(self._path)
        text = before = ""
        if node is not None and node.kind == "file":
            text = before = host.files.read(self._path).decode("utf-8", "surrogateescape")
        same = False
        if self.provider == "apt":
            wanted = self._section(signed_by)
            same = self._parsed(before) == self._parsed(wanted)
            text = wanted
        else:
            _make_directory(host, posixpath.dirname(self._path))
            text = repo_file.replaced(before, self.name, self._section(signed_by))
            same = self._parsed(before) == self._parsed(text)
        if same and node is not None and node.kind == "file":
            if node.mode & 0o7777 != self._mode:
                host.files.set_attributes(self._path, self._mode, -1, -1)
            return
        data = text.encode("utf-8", "surrogateescape")
        host.files.write(self._path, data, mode=self._mode, firm=True)

    def remove(self, host: Host) -> None:
        """See the base class. Removes the key first, then the entry; a dnf file is removed with its
        last repository.
        """
        if self._installed:  # first: an interrupted push finds the file and continues
            self._remove_key(host, self._installed)
        if self.provider == "apt":
            host.files.unlink(self._path)
        else:
            text = host.files.read(self._path).decode("utf-8", "surrogateescape")
            remaining_text = repo_file.replaced(text, self.name, None)
            if repo_file.is_empty(remaining_text):
                host.files.unlink(self._path)
            else:
                data = remaining_text.encode("utf-8", "surrogateescape")
                node = host.files.lstat(self._path)
                mode = MODE if node is None else node.mode & 0o7777
                host.files.write(self._path, data, mode=mode)

    def _remove_key(self, host: Host, path: str) -> None:
        if not conflicts.mentions(host, self.provider, self.name, path):
            host.files.unlink(path)


def _make_directory(host: Host, path: str) -> None:
    if host.files.stat(path) is None:
        above = posixpath.dirname(path)
        if host.files.stat(above) is None and posixpath.dirname(above) == repository_paths.ETC:
            host.files.mkdir(above, 0o755)
        host.files.mkdir(path, 0o755)


def _digest(data: bytes) -> str:
    return "sha256:%s" % sha256(data).hexdigest()[:16]


def _fingerprints(data: bytes) -> List[str]:
    try:
        return openpgp_keys.read(data).primary
    except ValueError:
        return []


def _refused(where: str, reason: str) -> ResourceError:
    if rules.is_download(where):
        from remote_runtime.downloads import http_get

        where = http_get.display_url(where)  # its query often holds a token
    return ResourceError(
        "the key %s is refused: %s" % (where, reason),
        kind="resource.repository.key",
        hint="check key and fingerprint; nothing was changed",
    )
