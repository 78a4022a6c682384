"""The repository type on a host whose /etc is a directory."""

import base64
import os
import unittest
from typing import Any
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.packages import list_refresh, repository_paths
from remote_runtime.resources.repository import openpgp_keys
from remote_runtime.system.process.commands import Commands
from tests.remote_runtime import fakes
from tests.remote_runtime.fakes import DirectoryTest, item, one, run_items
from tests.remote_runtime.repository.signed import FINGERPRINT, KEY, OTHER_FINGERPRINT, OTHER_KEY
from tests.texts import expect_text

GOOD = {"url": "https://x/debian", "suites": ["bookworm"], "components": ["main"]}
TEXT = (
    "Types: deb\nURIs: https://x/debian\nSuites: bookworm\nComponents: main\n"
    "Signed-By: ETC/apt/keyrings/x.asc\n"
)
BINARY = openpgp_keys.dearmored(KEY.encode())


class HasAll(Commands):
    """A host with every program."""

    def find(self, program, path=None, cwd=None):
        return "/usr/bin/" + program


class Manager(object):
    """A package manager that only counts its refreshes."""

    def __init__(self, test):
        self._test = test

    def refresh_lists(self, lock_timeout, only=()):
        self._test.refreshed.append(sorted(only))
        self._test.context.outdated_lists.clear()
        if self._test.fails:
            raise ResourceError("no such server")


class RepositoryCase(DirectoryTest):
    """A host with a directory for each package manager."""

    def setUp(self):
        super().setUp()
        for name in ("apt/sources.list.d", "yum.repos.d"):
            os.makedirs(self.path(name))
        self.refreshed: Any = []
        self.notices: Any = []
        self.context: Any = None
        self.fails = False
        for patch in (
            mock.patch.object(repository_paths, "ETC", self.root),
            mock.patch.object(list_refresh, "manager_of", return_value=Manager(self)),
            mock.patch.object(list_refresh, "_is_older", return_value=False),
            mock.patch.object(list_refresh, "is_used", return_value=True),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def run_all(self, *items, **options):
        self.context = fakes.context(
            items,
            commands=HasAll,
            on_notice=lambda level, text: self.notices.append(text),
            **options,
        )
        try:
            return run_items(items, shared=self.context)
        finally:
            fakes.close(self.context)

    def repository(self, index=0, name="x", provider="apt", **properties):
        return item("repository", name, index, provider=provider, properties=properties)

    def both(self, *items):
        """The events of a preview and of a push, which must tell the same."""
        preview, push = self.run_all(*items, noop=True), self.run_all(*items)
        for foretold, event in zip(preview, push):
            self.assertEqual(foretold["changed"], event["changed"], event)
            self.assertEqual(foretold["failed"], event["failed"], event)
        return push

    def listed(self, *parts):
        return sorted(os.listdir(self.path(*parts)))


class RepositoryTest(RepositoryCase):
    def test_a_key_of_each_form(self):
        """An armored key is kept as .asc and a binary one as .gpg; the other one goes."""
        one(self.both(self.repository(key=KEY.replace("\n", "\r\n"), **GOOD)))
        self.assertEqual(
            self.read("apt/sources.list.d/x.sources").decode(), TEXT.replace("ETC", self.root)
        )
        self.assertEqual(self.read("apt/keyrings/x.asc").decode(), KEY)
        binary = "base64:" + base64.b64encode(BINARY).decode()
        event = one(self.both(self.repository(key=binary, **GOOD)))
        self.assertTrue(event["changed"])
        self.assertEqual(self.listed("apt/keyrings"), ["x.gpg"])
        self.assertEqual(self.read("apt/keyrings/x.gpg"), BINARY)
        self.assertFalse(one(self.both(self.repository(key=binary, **GOOD)))["changed"])

    def test_dnf(self):
        """dnf has a section and an armored key, and what else is in the file stays."""
        self.write("yum.repos.d/x.repo", b"# mine\n[other]\nname=other\n")
        binary = "base64:" + base64.b64encode(BINARY).decode()
        wanted = self.repository(provider="dnf", url="https://x/$basearch", key=binary)
        self.assertTrue(one(self.both(wanted))["changed"])
        self.assertEqual(self.read("pki/rpm-gpg/RPM-GPG-KEY-x").decode(), KEY)
        text = self.read("yum.repos.d/x.repo").decode()
        self.assertTrue(text.startswith("# mine\n[other]\nname=other\n\n[x]\nname=x\n"), text)
        self.assertFalse(one(self.both(wanted))["changed"])
        self.assertTrue(one(self.both(self.repository(provider="dnf", ensure="absent")))["changed"])
        self.assertEqual(self.read("yum.repos.d/x.repo"), b"# mine\n[other]\nname=other\n\n")
        self.assertEqual(self.listed("pki/rpm-gpg"), [])

    def test_by_hand(self):
        """A file that says the same in other words is left as it is; its mode is set."""
        text = "# mine\nURIs: https://x/debian/\nTypes: deb\nSuites: bookworm\nComponents: main\n"
        self.write("apt/sources.list.d/x.sources", text.encode(), 0o600)
        changes = one(self.both(self.repository(**GOOD)))["changes"]
        self.assertEqual([change["what"] for change in changes], ["mode"])
        self.assertEqual(self.read("apt/sources.list.d/x.sources"), text.encode())

    def test_absent(self):
        """File and key go; a key that another source names stays."""
        self.run_all(self.repository(key=KEY, **GOOD))
        named = self.path("apt/keyrings/x.asc")
        other = "deb [signed-by=%s] http://b b main\n" % named
        self.write("apt/sources.list.d/b.list", other.encode())
        one(self.both(self.repository(ensure="absent")))
        self.assertEqual(self.listed("apt/keyrings"), ["x.asc"])
        os.remove(self.path("apt/sources.list.d/b.list"))
        self.run_all(self.repository(key=KEY, **GOOD))
        one(self.both(self.repository(ensure="absent")))
        self.assertEqual((self.listed("apt/keyrings"), self.listed("apt/sources.list.d")), ([], []))
        self.assertFalse(one(self.both(self.repository(ensure="absent")))["changed"])

    def test_a_key_of_the_host(self):
        """A key is read from a path of the host, and its fingerprint is checked there."""
        path = self.write("k.asc", KEY.encode())
        wrong = self.repository(key=path, fingerprint=OTHER_FINGERPRINT, **GOOD)
        self.assertIn(FINGERPRINT, one(self.both(wrong))["error"][0])
        self.assertEqual(self.listed("apt/sources.list.d"), [])
        right = self.repository(key=path, fingerprint=FINGERPRINT, **GOOD)
        self.assertTrue(one(self.both(right))["changed"])
        self.write("k.asc", OTHER_KEY.encode())
        self.assertTrue(one(self.both(self.repository(key=path, **GOOD)))["changed"])
        self.assertEqual(self.read("apt/keyrings/x.asc").decode(), OTHER_KEY)

    def test_a_key_of_the_host_that_is_refused(self):
        """The wrong key of a path is refused where it is installed already, and where not."""
        path = self.write("k.asc", KEY.encode())
        self.run_all(self.repository(key=path, fingerprint=FINGERPRINT, **GOOD))
        wrong = self.repository(key=path, fingerprint=OTHER_FINGERPRINT, **GOOD)
        self.assertIn("is refused", one(self.both(wrong))["error"][0])
        self.write("k.asc", OTHER_KEY.encode())
        right = self.repository(key=path, fingerprint=FINGERPRINT, **GOOD)
        self.assertIn("is refused", one(self.both(right))["error"][0])
        self.assertEqual(self.read("apt/keyrings/x.asc").decode(), KEY)

    def test_more_than_a_key(self):
        """What else is in the file of a key is not written, and a second run is stable."""
        evil = (OTHER_KEY.replace("PUBLIC KEY BLOCK", "SIGNATURE") + KEY).encode()
        hidden = BINARY + bytes([0xC8, 4]) + b"\x00abc"  # a packet of another kind
        for provider, file, data, kept in (
            ("apt", "apt/keyrings/x.asc", evil, KEY.encode()),
            ("apt", "apt/keyrings/x.gpg", hidden, BINARY),
            ("dnf", "pki/rpm-gpg/RPM-GPG-KEY-x", evil, KEY.encode()),
            ("dnf", "pki/rpm-gpg/RPM-GPG-KEY-x", hidden, KEY.encode()),
        ):
            more: Any = GOOD if provider == "apt" else {"url": "https://x/"}
            inline = "base64:" + base64.b64encode(data).decode()
            for key in (self.write("k", data), inline):
                with self.subTest(file=file, key=key[:7]):
                    wanted = self.repository(
                        provider=provider, key=key, fingerprint=FINGERPRINT, **more
                    )
                    self.both(wanted)
                    self.assertEqual(self.read(file), kept)
                    self.assertEqual(one(self.both(wanted))["status"], "stable")
                    self.both(self.repository(provider=provider, ensure="absent"))

    def test_the_same_source_elsewhere(self):
        """Another file with the same source and key is told; with another key it is refused."""
        old = self.write("apt/sources.list.d/old.list", b"deb https://x/debian/ bookworm main\n")
        expect_text(one(self.both(self.repository(key=KEY, **GOOD)))["error"][0], self)
        self.assertEqual(self.listed("apt/sources.list.d"), ["old.list"])
        gone = item("file", old, 0, properties={"ensure": "absent"})
        events = self.both(gone, self.repository(1, key=KEY, **GOOD))
        self.assertEqual([event["failed"] for event in events], [False, False])
        same = "deb [signed-by=%s] https://x/debian bookworm main\n"
        same = same % self.path("apt/keyrings/x.asc")
        self.write("apt/sources.list.d/old.list", same.encode())
        self.notices = []
        self.run_all(self.repository(key=KEY, description="more", **GOOD))
        expect_text(self.notices[0], self)

    def test_signed_by(self):
        """A key that something else installs has to be there, or to come before."""
        path = self.path("vendor.gpg")
        wanted = self.repository(1, signed_by=[path], **GOOD)
        expect_text(one(self.both(wanted))["error"][0], self)
        events = self.both(self.file("vendor.gpg", 0, content="key"), wanted)
        self.assertFalse(events[1]["failed"])

    def test_what_is_of_the_other_manager(self):
        """Properties of dnf are refused on a host with apt, and the other way round."""
        for provider, properties in (
            ("apt", {**GOOD, "priority": 1}),
            ("apt", {"url": "https://x"}),
            ("dnf", GOOD),
        ):
            event = one(self.both(self.repository(provider=provider, **properties)))
            self.assertTrue(event["failed"], properties)

    def test_one_refresh_for_all(self):
        """The last repository before a package refreshes the lists, once, and a second run not."""
        package = item("package", "p", 3, properties={})
        absent = self.repository(2, "z", ensure="absent")
        flat = {"url": "https://y/", "suites": ["./"]}
        plan = [self.repository(0, "a", **GOOD), self.repository(1, "b", **flat), absent, package]
        plan.append(self.repository(4, "c", url="https://z/", suites=["./"]))
        preview = self.run_all(*plan, noop=True)
        self.assertEqual(
            [event["prediction"] for event in preview[:3]], ["certain", "assumed", "certain"]
        )
        self.run_all(*plan)
        self.assertEqual(self.refreshed, [["a", "b"], ["c"]])
        self.run_all(*plan)
        self.assertEqual(len(self.refreshed), 2)

    def test_the_last_one_is_as_desired(self):
        """A repository that is as desired refreshes the lists of those before, and says so."""
        first = self.repository(0, "a", **GOOD)
        last = self.repository(1, "b", url="https://y/", suites=["./"])
        self.run_all(first, last)
        first.properties["components"] = ["main", "contrib"]
        events = self.both(first, last)
        self.assertEqual(
            events[1]["changes"], [{"what": "lists", "from": "outdated", "to": "current"}]
        )
        self.assertEqual(self.refreshed[1:], [["a"]])

    def test_switched_off_or_gone(self):
        """What apt does not read needs no lists."""
        self.run_all(self.repository(enabled=False, **GOOD))
        self.run_all(self.repository(ensure="absent"))
        self.assertEqual(self.refreshed, [])

    def test_a_refresh_that_fails(self):
        """The repository has failed, its files stay, and the next run refreshes again."""
        self.fails = True
        event = one(self.run_all(self.repository(**GOOD)))
        expect_text(event["error"][0], self)
        self.assertEqual(self.listed("apt/sources.list.d"), ["x.sources"])
        self.fails = False
        with mock.patch.object(list_refresh, "_is_older", side_effect=[True, True, False, False]):
            event = one(self.run_all(self.repository(**GOOD)))
        self.assertEqual((event["changed"], len(self.refreshed)), (True, 2))

    def test_refreshed_at_the_end(self):
        """Lists whose turn never came are refreshed at the end; a failure ends the run."""
        skipped = self.repository(1, "b", url="https://y/", suites=["./"])
        skipped = skipped._replace(require=("file#gone",))
        self.run_all(self.repository(0, "a", **GOOD), skipped)
        self.assertEqual(self.refreshed, [])
        self.fails = True
        with self.assertRaisesRegex(ResourceError, "no such server"):
            list_refresh.refresh_at_the_end(self.context)
        self.assertEqual(self.refreshed, [["a"]])


class DownloadTest(RepositoryCase):
    """Keys of a server."""

    def setUp(self):
        super().setUp()
        self.asked: Any = []
        self.served: Any = KEY.encode()

        def read(adapter, url, limit):
            self.asked.append(url)
            if self.served is None:
                raise ResourceError("no answer", kind="resource.download.connect")
            return self.served

        patch = mock.patch("remote_runtime.host.download_ports._read", read)
        patch.start()
        self.addCleanup(patch.stop)
        self.wanted = self.repository(key="https://x/k", fingerprint=FINGERPRINT, **GOOD)

    def test_a_download(self):
        """It is made once; an installed key with the fingerprint needs no server."""
        self.assertTrue(one(self.both(self.wanted))["changed"])
        self.assertEqual(self.read("apt/keyrings/x.asc").decode(), KEY)
        self.served, self.asked = None, []
        self.assertFalse(one(self.both(self.wanted))["changed"])
        self.assertEqual(self.asked, [])

    def test_a_download_that_is_not_trusted(self):
        """Another key, one key more, or a page instead of a key changes nothing."""
        for served in (OTHER_KEY, KEY + OTHER_KEY, "<html>\n", ""):
            self.served = served.encode()
            event = one(self.both(self.wanted))
            self.assertIn("is refused", event["error"][0])
            self.assertEqual(self.listed("apt/sources.list.d"), [])
            self.assertFalse(os.path.exists(self.path("apt/keyrings")))

    def test_a_key_hidden_beside_the_right_one(self):
        """A block that apt would read as a key is not written beside the key that was compared."""
        evil = OTHER_KEY.replace("PUBLIC KEY BLOCK", "SIGNATURE")
        self.served = (evil + KEY).encode()
        self.assertTrue(one(self.both(self.wanted))["changed"])
        self.assertEqual(self.read("apt/keyrings/x.asc").decode(), KEY)
        self.served = None
        self.assertEqual(one(self.both(self.wanted))["status"], "stable")

    def test_a_token_in_the_url(self):
        """The error does not repeat the query, which often holds a token."""
        self.served = OTHER_KEY.encode()
        wanted = self.repository(key="https://x/k?token=s3", fingerprint=FINGERPRINT, **GOOD)
        error = "\n".join(one(self.both(wanted))["error"])
        expect_text(error, self)
        self.assertNotIn("s3", error)

    def test_a_server_that_is_down(self):
        """The resource fails, in a preview too."""
        self.served = None
        self.assertIn("no answer", one(self.both(self.wanted))["error"][0])

    def test_another_fingerprint(self):
        """A new fingerprint has the key fetched again."""
        self.run_all(self.wanted)
        self.served = OTHER_KEY.encode()
        new = self.repository(key="https://x/k", fingerprint=OTHER_FINGERPRINT, **GOOD)
        self.assertTrue(one(self.both(new))["changed"])
        self.assertEqual(self.read("apt/keyrings/x.asc").decode(), OTHER_KEY)


if __name__ == "__main__":
    unittest.main()
