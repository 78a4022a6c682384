"""The user type: an account, its groups and its home (target; ``check`` on both sides)."""

import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

from remote_runtime.base import AccountStateType, Diff, Properties
from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host import lockout
from remote_runtime.host.login_defs import NOWHERE, LoginRules
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.system.account_files import NEVER, date_of, day_of

KEPT = ("uid", "group", "comment", "home", "shell", "password", "locked", "expires")
_HASH = re.compile(r"\*|\$[A-Za-z0-9-]+\$.*\$.|_[./0-9A-Za-z]{19}\Z|[./0-9A-Za-z]{13}\Z")
"""Texts that may be in place of a hash in /etc/shadow: ``*`` for none, the forms of crypt(3), and
that of DES.
"""
KEY = ".ssh/id_ed25519"
# The private half gets its name last: with it, both are there.
_GENERATE = (
    'rm -f "$1.new" "$1.new.pub" && ssh-keygen -q -t ed25519 -N "" -C "$2" -f "$1.new" '
    '&& mv -f "$1.new.pub" "$1.pub" && mv "$1.new" "$1"'
)


class Resource(AccountStateType):
    """One user."""

    account = "user"
    secret = ("password",)
    _homeless = False  # whether it exists as a user without a home directory

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. root is not removed and keeps UID 0 unless ``force`` is set;
        properties must fit together.
        """
        wrong: List[Tuple[str, str]] = []
        get = properties.get
        if get("ensure") == "absent" and name == "root" and not get("force"):
            wrong.append(("force", "removing the user root requires force: true"))
        if name == "root" and get("uid") not in (None, 0) and not get("force"):
            wrong.append(("uid", "the uid of root is 0; set force to change it"))
        for key in ("home", "shell"):
            if {".", ".."} & set(str(get(key) or "").split("/")):
                wrong.append((key, "the path contains . or .."))
        group = get("group") or ""
        if group.isdigit() and group.strip("0123456789"):
            wrong.append(("group", "a group number may contain only the digits 0 to 9"))
        pairs = (("append", "groups"), ("move_home", "home"))
        wrong += [(k, "%s requires %s" % (k, o)) for k, o in pairs if get(k) and get(o) is None]
        if get("generate_ssh_key") and get("system") and not get("create_home"):
            wrong.append(
                ("generate_ssh_key", "a system user gets a home directory only with create_home")
            )
        try:
            day = day_of(get("expires") or NEVER)
            if day is not None and day < 1:
                wrong.append(("expires", "expires must be 1970-01-02 or later, or never"))
        except ValueError:
            wrong.append(("expires", "expires must be a date such as 2030-12-31, or never"))
        return wrong

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        password = properties.get("password")
        if not isinstance(password, str) or "{{" in password or _HASH.match(password):
            return []
        message = "password is not a hash, so nobody can log in with it"
        return [("password", message, "create the hash, for example with openssl passwd -6")]

    @property
    def home(self) -> Optional[str]:
        get = self.properties.get
        keys = ("create_home", "move_home", "remove_home", "generate_ssh_key")
        return get("home") or (None if any(map(get, keys)) else "")

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. With ``append``, only the desired groups; the password only if the
        shadow file is readable.
        """
        user = host.accounts.user(self.name)
        if user is None:
            return None
        uid, home = self.properties.get("uid"), str(self.properties.get("home") or user.home)
        later = user._replace(uid=user.uid if uid is None else uid, home=home)
        self._homeless = not LoginRules(host.files).gets_home(later)
        groups, wanted = host.accounts.groups_of(self.name), self.properties.get("groups")
        if self.properties.get("append") and wanted is not None:
            groups = [group for group in groups if group in wanted]
        state: Dict[str, Any] = {"uid": user.uid, "comment": user.comment, "groups": groups}
        by_number = self.properties.get("group", "").isdigit()
        if (user.uid < 0 and uid is not None) or (user.gid < 0 and by_number):
            raise Unknowable("the uid and gid of %s are not known until it is created" % self.name)
        name = "" if by_number else host.accounts.group_name(user.gid)
        state["group"] = name or str(user.gid)
        if self.properties.get("move_home") and host.files.lstat(home) is None:
            home = user.home  # the content will be at the new place
        node = host.files.stat(home) if home else None
        there = node is not None and node.kind == "directory"
        state.update(home=user.home, shell=user.shell, create_home=there)
        if self.properties.get("generate_ssh_key"):
            key = host.files.lstat(self._key(home)) if there else None
            state["generate_ssh_key"] = key is not None
        if user.shadow is not None:
            state.update(password=user.shadow.lstrip("!"), locked=user.shadow.startswith("!"))
            state["expires"] = date_of(user.expires)
        return state

    def desired(self) -> Mapping[str, Any]:
        """See the base class. A home directory is desired unless ``system``, ``home`` or login.defs
        determines otherwise.
        """
        properties = self.properties
        wanted = {key: properties[key] for key in KEPT if properties.get(key) is not None}
        if properties.get("groups") is not None:
            wanted["groups"] = sorted(set(properties["groups"]))
        homeless = properties.get("system") or properties.get("home") == NOWHERE or self._homeless
        if properties.get("create_home", not homeless):
            wanted["create_home"] = True
        if properties.get("generate_ssh_key"):
            wanted["generate_ssh_key"] = True
        return wanted

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Refuses changes that would lock out ccm's user, unless ``force`` is
        set. The key is created last.
        """
        wanted = {key: diff.desired[key] for key in diff.keys if key != "generate_ssh_key"}
        if "expires" in wanted:
            wanted["expires"] = day_of(wanted["expires"])
        wanted.update((key, self.properties.get(key)) for key in ("append", "move_home"))
        if diff.new:
            host.accounts.add_user(self.name, wanted, self.properties.get("system") is True)
        elif diff.keys != ["generate_ssh_key"]:
            if not self.properties.get("force"):
                risk = lockout.risk_of(host, diff.found or {}, wanted)
                lockout.require_login(host, self.name, risk)
            host.accounts.change_user(self.name, wanted)
        if "generate_ssh_key" in diff:
            self._generate_key(host)

    def _generate_key(self, host: Host) -> None:
        user = host.accounts.user(self.name)
        path = self._key(user.home if user else "")
        if not host.commands.find("ssh-keygen"):
            raise ResourceError(
                "the program ssh-keygen is missing",
                kind="resource.command",
                hint="install the package that has it, such as openssh-client or openssh",
            )
        directory = path.rpartition("/")[0]
        if user is not None and host.files.lstat(directory) is None:
            host.files.mkdir(directory, 0o700, user.uid, user.gid)
        words = ["sh", "-c", _GENERATE, "sh", path, self.name]
        modes = {path: 0o600, path + ".pub": 0o644}
        made = [(each, modes[each], user.uid, user.gid) for each in modes] if user else []
        host.commands.run(words, user=self.name, affects=list(modes), makes=made)

    def remove(self, host: Host) -> None:
        """See the base class. Refuses to remove the user that ccm logs in with, unless ``force`` is
        set.
        """
        get = self.properties.get
        if not get("force"):
            lockout.require_login(host, self.name, "removing the user")
        host.accounts.remove_user(self.name, home=get("remove_home"), kill=get("kill_processes"))

    @staticmethod
    def _key(home: str) -> str:
        return "%s/%s" % (home.rstrip("/"), KEY)
