"""What a run may not take from its own login, judged by the files that let it in."""

import unittest
from typing import Any, Dict, List, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.host.lockout import require_access
from remote_runtime.system.account_files import User
from remote_runtime.text.authorized_keys import parse

RULE = b"deploy ALL=(ALL) NOPASSWD: ALL\n"
OWN = "/etc/sudoers.d/own"
KEYS = "/home/deploy/.ssh/authorized_keys"
KEY = b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1EUs1c me\n"


class _Files(object):
    def __init__(self, texts: Dict[str, bytes]) -> None:
        self._texts = texts

    def stat(self, path: str) -> Optional[str]:
        return path if any(one.startswith(path) for one in self._texts) else None

    def entries(self, path: str) -> List[str]:
        return [one[len(path) + 1 :] for one in self._texts if one.startswith(path + "/")]

    def read(self, path: str) -> bytes:
        return self._texts[path]


class _Accounts(object):
    def logins(self) -> List[str]:
        return ["root", "deploy"]

    def uid(self, user: str) -> int:
        return 0 if user == "root" else 1000

    def groups_of(self, user: str) -> List[str]:
        return ["web", "admins"]

    def user(self, name: str) -> User:
        return User(name, 1000, 1000, "", "/home/" + name, "/bin/sh")

    def group_name(self, gid: int) -> str:
        return {1000: "staff"}[gid]

    def gid(self, group: str) -> int:
        return {"web": 33, "admins": 44, "staff": 1000}[group]

    def login_keys(self) -> List[str]:
        return [parse(KEY.decode()).fingerprint]


def refusal(files: Dict[str, bytes], path: str, after: bytes) -> str:
    """What is said of a change of the file at ``path``, beside other ``files``."""
    host: Any = type("Host", (), {"accounts": _Accounts(), "files": _Files(files)})()
    try:
        require_access(host, path, files.get(path, b""), after)
    except ResourceError as error:
        return str(error)
    return ""


class KeyTest(unittest.TestCase):
    def told(self, before: bytes, after: bytes) -> str:
        """What is said of a change of the keys of the login."""
        return refusal({KEYS: before}, KEYS, after)

    def test_own_key(self) -> None:
        """The key of the login is neither removed, nor damaged, nor made a comment."""
        for after in (b"", b"#" + KEY, b"# " + KEY, KEY[:60] + b"\n"):
            self.assertIn("could lock out deploy", self.told(b"# keys\n" + KEY, after))

    def test_what_stays(self) -> None:
        """Options and other lines may change, and what is not the key of the login."""
        self.assertEqual(self.told(KEY, b"no-pty " + KEY + b"# x\n"), "")
        self.assertEqual(self.told(b"#" + KEY, b""), "")


class SudoTest(unittest.TestCase):
    def told(self, path: str, after: bytes, **texts: bytes) -> str:
        """What is said of a change of ``path``, beside files of sudo: ``main`` and those of its
        directory."""
        files = {"/etc/sudoers.d/" + name.replace("_", "."): text for name, text in texts.items()}
        files["/etc/sudoers"] = files.pop("/etc/sudoers.d/main", b"Defaults env_reset\n")
        return refusal(files, path, after)

    def test_last_rule(self) -> None:
        """The last rule for the user, one of its groups or an alias is not removed."""
        alias = b"User_Alias ADMINS = anna, deploy\nADMINS ALL = ALL\n"
        for rule in (RULE, b"%admins ALL=(ALL) ALL\n", b"anna,deploy  ALL=ALL\n", alias):
            for after in (b"", b"# " + RULE, b"anna ALL=ALL\n", b"Defaults:deploy x=y\n"):
                told = self.told(OWN, after, own=rule)
                self.assertIn("removing the user's last sudo rule from %s" % OWN, told)
                self.assertIn("could lock out deploy", told)
        self.assertIn("from /etc/sudoers could", self.told("/etc/sudoers", b"", main=RULE))

    def test_other_rules(self) -> None:
        """A rule in another file is enough, unless sudo does not read that file."""
        self.assertEqual(self.told(OWN, b"", own=RULE, other=RULE), "")
        self.assertEqual(self.told(OWN, b"", own=RULE, main=b"%web ALL=(ALL) ALL\n"), "")
        self.assertEqual(self.told(OWN, b"ALL ALL=ALL\n", own=RULE), "")
        self.assertIn("lock out", self.told(OWN, b"", own=RULE, other_bak=RULE))

    def test_how_a_rule_names_the_login(self) -> None:
        """By its number, its primary group, the number of a group, or an alias of another file."""
        for rule in (b"#1000 ALL=ALL\n", b"%staff ALL=ALL\n", b"%#44 ALL=ALL\n"):
            self.assertIn("lock out", self.told(OWN, b"", own=rule))
            self.assertEqual(self.told(OWN, b"", own=RULE, other=rule), "")
        alias = b"User_Alias ADMINS = deploy\n"
        self.assertIn("lock out", self.told(OWN, b"", own=b"ADMINS ALL=ALL\n", main=alias))
        self.assertIn("lock out", self.told(OWN, b"", own=alias, main=b"ADMINS ALL=ALL\n"))

    def test_what_lets_nobody_in(self) -> None:
        """A file without a rule for the user, or that sudo does not read, may go."""
        self.assertEqual(self.told(OWN, b"", own=b"anna ALL=ALL\n"), "")
        self.assertEqual(self.told("/etc/sudoers.d/a.bak", b"", a_bak=RULE), "")
        self.assertEqual(self.told("/etc/motd", b""), "")
