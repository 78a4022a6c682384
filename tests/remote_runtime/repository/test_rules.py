"""Which properties of a repository are refused."""

import base64
import unittest
from typing import Any

from remote_runtime.resources.repository import openpgp_keys, rules
from tests.remote_runtime.repository.signed import FINGERPRINT, KEY, OTHER_FINGERPRINT, OTHER_KEY

GOOD = {"url": "https://x/debian", "suites": ["bookworm"], "components": ["main"]}
BINARY = "base64:" + base64.b64encode(openpgp_keys.dearmored(KEY.encode())).decode()
SPACED = " ".join(FINGERPRINT[at : at + 4] for at in range(0, 40, 4)).lower()


class RulesTest(unittest.TestCase):
    def test_what_is_allowed(self):
        """Keys in every form, with the fingerprint in every spelling."""
        for more in (
            {},
            {"key": KEY, "fingerprint": FINGERPRINT},
            {"key": KEY, "fingerprint": SPACED},
            {"key": KEY, "fingerprint": "0x" + FINGERPRINT},
            {"key": BINARY, "fingerprint": FINGERPRINT},
            {"key": KEY + OTHER_KEY, "fingerprint": FINGERPRINT + ", " + OTHER_FINGERPRINT},
            {"key": "docker.asc"},
            {"key": "/usr/share/keyrings/x.gpg"},
            {"key": "https://x/k.asc", "fingerprint": FINGERPRINT},
            {"signed_by": ["/usr/share/keyrings/x.gpg"]},
            {"options": {"Languages": "none"}},
        ):
            with self.subTest(more=more):
                self.assertEqual(rules.problems({**GOOD, **more}), [])
        self.assertEqual(rules.problems({"ensure": "absent"}), [])
        self.assertEqual(rules.problems({"metalink": "https://x/m", "priority": 1}), [])

    def test_what_is_refused(self):
        """Each mistake is told at its property."""
        cases: Any = (
            ("", {"url": ""}, "required property 'url' is missing"),
            ("urls", {"urls": ["https://y"]}, "either url or urls"),
            ("metalink", {"metalink": "https://y", "mirrorlist": "https://z"}, "either"),
            ("url", {"url": "deb https://x bookworm main"}, "only the address"),
            ("url", {"url": "ppa:git-core/ppa"}, "launchpadcontent.net/git-core/ppa/ubuntu"),
            ("url", {"url": "x/y"}, "not a URL"),
            ("url", {"url": "https://x/a b"}, "not a URL"),
            ("suites", {"suites": ["a", "./"]}, "two resources"),
            ("components", {"suites": ["./"]}, "no components"),
            ("components", {"components": []}, "require components"),
            ("types", {"suites": [], "components": [], "types": ["deb"]}, "requires suites"),
            ("key", {"key": "https://x/k"}, "requires its fingerprint"),
            ("key", {"key": "ftp://x/k", "fingerprint": FINGERPRINT}, "not ftp"),
            ("key", {"key": "https://h:port/k", "fingerprint": FINGERPRINT}, "not a valid URL"),
            ("key", {"key": "http://[x/k", "fingerprint": FINGERPRINT}, "not a valid URL"),
            ("key", {"key": "https:///k", "fingerprint": FINGERPRINT}, "no host"),
            ("key", {"key": OTHER_KEY, "fingerprint": FINGERPRINT}, OTHER_FINGERPRINT),
            ("key", {"key": KEY + OTHER_KEY, "fingerprint": FINGERPRINT}, OTHER_FINGERPRINT),
            ("key", {"key": "line\nline\n"}, "begins with 'line'"),
            ("key", {"key": "base64:#"}, "not base64"),
            ("fingerprint", {"fingerprint": FINGERPRINT}, "requires key"),
            ("fingerprint", {"key": KEY, "fingerprint": FINGERPRINT[-16:]}, "40 or 64 digits"),
            ("signed_by", {"key": KEY, "signed_by": ["/k"]}, "either key or signed_by"),
            ("options", {"options": {"TRUSTED": "yes"}}, "gpgcheck"),
            ("options", {"options": {"gpgkey": "x"}}, "key or signed_by"),
            ("options", {"options": {"password": "x"}}, "password"),
            ("options", {"options": {"Pdiffs": "x", "pdiffs": "y"}}, "twice"),
        )
        for key, more, why in cases:
            with self.subTest(more=more):
                found = dict(rules.problems({**GOOD, **more}))
                self.assertIn(key, found)
                self.assertIn(why, found[key])

    def test_a_subkey(self):
        """The fingerprint of a subkey is answered with that of its key."""
        found = openpgp_keys.Keys([FINGERPRINT], [OTHER_FINGERPRINT])
        self.assertIn(FINGERPRINT, rules.compare(found, OTHER_FINGERPRINT))

    def test_warnings(self):
        """What is allowed and dangerous is told."""
        login = rules.warnings({**GOOD, "url": "https://me:secret@x/"})
        self.assertEqual([(key, "secret" in why) for key, why, _ in login], [("url", False)])
        self.assertEqual([key for key, _, _ in rules.warnings({"gpgcheck": False})], ["gpgcheck"])
        self.assertEqual(rules.warnings(GOOD), [])


if __name__ == "__main__":
    unittest.main()
