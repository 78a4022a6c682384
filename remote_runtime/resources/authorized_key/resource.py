"""The authorized_key type: keys that are allowed to log in as a user (target; ``check`` on both
sides).
"""

import re
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host import lockout
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.resources.authorized_key import conflicts, key_list
from remote_runtime.resources.authorized_key.key_file import ACCEPTED, Place, place_of, put
from remote_runtime.resources.authorized_key.key_list import KeyFile, Line, file_of, listed
from remote_runtime.text import authorized_keys
from remote_runtime.text.suggestions import nearest
from remote_runtime.validation import rules

if TYPE_CHECKING:
    from remote_runtime.system.account_files import User

_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?\Z")


class Resource(StateType):
    """The keys of one resource in the file of one user."""

    noun = "authorized key"
    partial = True

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self._wanted = listed(properties).keys
        self._user = str(properties.get("user") or name)
        self._exclusive = properties.get("exclusive") is True and self.ensure == "present"
        self._then: Optional[List[str]] = None  # what records say of the keys then
        self._refused = False

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. ``source`` is a path on the controller, ``path`` one on the host."""
        wrong = list(listed(properties).problems)
        if properties and not properties.get("user") and not _USER.match(name):
            wrong.append(("name", "set user: the name %r is not a user name" % name))
        source = properties.get("source")
        if isinstance(source, str) and source.startswith("/"):
            wrong.append(
                ("source", "use a path relative to the manifest, which is on the controller")
            )
        if source is not None and "key" in properties:
            wrong.append(("source", "key and source are mutually exclusive"))
        path = str(properties.get("path") or "")
        if path.startswith("~"):
            wrong.append(("path", "write %h for the home directory, as in sshd_config"))
        elif path:
            plain = re.sub("%[%hu]", "x", path)
            if "%" in plain:
                wrong.append(("path", "only %h, %u and %% are replaced"))
            clean = plain if plain.startswith("/") else "/" + plain
            if not path.startswith("%h"):
                wrong += [("path", message) for message in rules.of_path(clean)]
        return wrong

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """Return warnings about keys that sshd ignores or refuses: certificates, DSA keys and
        unknown options."""
        warnings = []
        for key in listed(properties).keys:
            if authorized_keys.is_certificate(key):
                text = "sshd finds no certificate in this file"
                hint = "list the key of its CA, with options: [cert-authority]"
                warnings.append(("key", text, hint))
            if key.kind == "ssh-dss":
                warnings.append(("key", "current SSH servers refuse DSA keys", "use another key"))
            for option in authorized_keys.split_options(key.options) if key.options else ():
                word = option.partition("=")[0]
                options = authorized_keys.OPTIONS + authorized_keys.WITH_VALUE
                known = {one.lower(): one for one in options}
                if word.lower() not in known:
                    guess = nearest(word, known.values())
                    hint = "did you mean %s?" % guess if guess else "see man sshd"
                    text = "sshd refuses a key with the unknown option %s" % word
                    warnings.append(("options" if "options" in properties else "key", text, hint))
        return warnings

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        path = str(properties.get("path") or "")
        fixed = path.startswith("/") and "%" not in path
        return [(path, True)] if fixed and properties.get("ensure") != "absent" else []

    @classmethod
    def conflicts(cls, resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
        return conflicts.find(resources)

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Return all keys or the wanted ones, and whether sshd accepts the
        permissions of the file.
        """
        place = self._place(host)
        file = KeyFile(()) if place is None else self._file(host, place)
        every = self._exclusive or "key" not in self.properties
        mine = None if every else self._wanted
        refusals = [] if place is None else place.refusals()
        records = file.records(mine)
        after = self._after(file)
        self._then = records if after is file.lines else KeyFile(after).records(mine)
        self._refused = bool(refusals)
        if not records and (self.ensure == "absent" or self._then or "key" not in self.properties):
            return None
        return {"keys": records, "permissions": "; ".join(refusals) or ACCEPTED}

    def desired(self) -> Mapping[str, Any]:
        texts = [key.shown for key in self._wanted]
        wanted: Dict[str, Any] = {"keys": texts if self._then is None else self._then}
        if self._refused:
            wanted["permissions"] = ACCEPTED
        return wanted

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Refuses to remove the key of this login, and sets the permissions
        that sshd requires.
        """
        place = self._place_of(host, host.accounts.existing_user(self._user))
        file = self._file(host, place)
        after = self._after(file)
        self._require_login(host, file.lines, after)
        changes = list(after) != list(file.lines) or place.file is None
        data = key_list.data_of(after) if changes else None
        put(host, place, data)

    def remove(self, host: Host) -> None:
        """See the base class. Removes the wanted keys and keeps all other lines; a missing user has
        none.
        """
        place = self._place(host)
        if place is None:
            return
        file = self._file(host, place)
        after = self._after(file)
        self._require_login(host, file.lines, after)
        put(host, place, key_list.data_of(after))

    def _place(self, host: HostReader) -> Optional[Place]:
        """Return the place, None if the user does not exist."""
        user = host.accounts.user(self._user)
        return None if user is None else self._place_of(host, user)

    def _place_of(self, host: HostReader, user: "User") -> Place:
        return place_of(host, user, str(self.properties.get("path") or ""))

    @staticmethod
    def _file(host: HostReader, place: Place) -> KeyFile:
        """The existing keys. ``ResourceError`` for a hidden file that contains anything else, which
        its user may have moved there to read it.
        """
        if place.file is None:
            return KeyFile(())
        key_file = file_of(host.files.read(place.path))
        if place.is_hidden and any(not (line.key or line.ignored) for line in key_file.lines):
            raise ResourceError(
                "%s belongs to another user, with the uid %d, and contains lines that are not keys"
                % (place.path, place.file.uid),
                kind="resource.file.owner",
                hint="find out what it is, then move it away or make %s its owner"
                % place.user.name,
            )
        return key_file

    def _after(self, file: KeyFile) -> Sequence[Line]:
        if self.ensure == "absent":
            return file.without(self._wanted)
        return file.merged(self._wanted, self._exclusive)

    def _require_login(self, host: Host, before: Sequence[Line], after: Sequence[Line]) -> None:
        """``ResourceError`` if the login of this run would lose its key."""
        if self.properties.get("force"):
            return
        for used in host.accounts.login_keys():
            now = [line.key for line in before if line.key and line.key.fingerprint == used]
            then = [line.key for line in after if line.key and line.key.fingerprint == used]
            if now and not then:
                lockout.require_key(host, self._user, "removing the key %s" % used)
            known = {key.options or "" for key in now}
            new = [key for key in then if (key.options or "") not in known]
            stricter = new or not all(map(authorized_keys.may_exclude, now))
            if now and then and stricter and all(map(authorized_keys.may_exclude, then)):
                lockout.require_key(host, self._user, "the options of the key %s" % used)
