"""The directories that systemd keeps for a service."""

import unittest
from types import SimpleNamespace
from typing import Any

from remote_runtime.effects import PathEffect, UnknownEffect
from remote_runtime.units.service_directories import (
    linked_directories,
    made_directories,
    own_directories,
    runtime_directories,
)

from ..fakes import FakeAccounts, context
from .fake_units import FakeUnits


class DirectoriesTest(unittest.TestCase):
    def setUp(self):
        self.context = context(noop=True, accounts=FakeAccounts({"ccm-app": 4711}))

    def unit(self, text):
        return FakeUnits({"x.service": "[Service]\n" + text}).definition("x.service")

    def made(self, text):
        return {
            made.path: (made.kind, made.mode, made.uid) if made.mode else made.target
            for made in made_directories(self.unit(text), self.context)
        }

    def test_one_below_another(self):
        """What is named itself keeps its owner; the directories between are root's."""
        self.assertEqual(
            self.made("User=ccm-app\nStateDirectory=ccm-a ccm-a/b ccm-c/d/e\n"),
            {
                "/var/lib/ccm-a": ("directory", 0o755, 4711),
                "/var/lib/ccm-a/b": ("directory", 0o755, 4711),
                "/var/lib/ccm-c": ("directory", 0o755, 0),
                "/var/lib/ccm-c/d": ("directory", 0o755, 0),
                "/var/lib/ccm-c/d/e": ("directory", 0o755, 4711),
            },
        )

    def test_links(self):
        """systemd follows no link, but one to a configuration or to what it keeps for the user."""
        links = {
            "/var/lib/ccm-a": "/srv/a",
            "/var/lib/ccm-up": "/nowhere",
            "/var/lib/ccm-dyn": "private/ccm-dyn",
            "/etc/ccm-conf": "/etc",
        }
        text = "StateDirectory=ccm-a ccm-b ccm-up/x\nConfigurationDirectory=ccm-conf\n"
        effects = [PathEffect(path, "symlink", target=target) for path, target in links.items()]
        files = self.context.overlay_with(effects).files
        there: Any = SimpleNamespace(files=files, accounts=self.context.accounts)
        self.assertEqual(
            linked_directories(self.unit(text), there), ["/var/lib/ccm-a", "/var/lib/ccm-up"]
        )
        made = [made.path for made in made_directories(self.unit(text), there)]
        self.assertEqual(made, ["/var/lib/ccm-b"])
        dynamic = "DynamicUser=yes\nStateDirectory=ccm-dyn ccm-a\n"
        self.assertEqual(linked_directories(self.unit(dynamic), there), ["/var/lib/ccm-a"])

    def test_configuration(self):
        """One that is new belongs to the service's user, one that is there stays as it is."""
        text = "User=ccm-app\nConfigurationDirectory=ccm-new systemd\n"
        self.assertEqual(self.made(text), {"/etc/ccm-new": ("directory", 0o755, 4711)})

    def test_dynamic_user(self):
        """A link leads to a directory below one that is root's alone; whose it is, is not known."""
        unit = self.unit("DynamicUser=yes\nStateDirectory=ccm-a/b\nRuntimeDirectory=ccm-r\n")
        made = {made.path: made for made in made_directories(unit, self.context)}
        self.assertEqual(made["/var/lib/private"].mode, 0o700)
        self.assertEqual(made["/var/lib/private/ccm-a/b"].kind, "directory")
        self.assertEqual(made["/var/lib/ccm-a/b"].target, "../private/ccm-a/b")
        self.assertEqual(made["/run/ccm-r"].kind, "directory")
        fogs = [
            fog for fog in own_directories(unit, self.context) if isinstance(fog, UnknownEffect)
        ]
        self.assertTrue(fogs[0].covers("attributes", "/run/ccm-r", True))
        self.assertFalse(fogs[0].covers("path", "/run/ccm-r", True))
        self.assertEqual(
            self.made("DynamicUser=yes\nUser=ccm-app\nRuntimeDirectory=ccm-r\n"),
            {"/run/ccm-r": ("directory", 0o755, 4711)},
        )

    def test_a_second_name(self):
        """Behind a colon stands the name of a link to the directory."""
        self.assertEqual(
            self.made("CacheDirectory=ccm-a:ccm-b\n"),
            {"/var/cache/ccm-a": ("directory", 0o755, 0), "/var/cache/ccm-b": "ccm-a"},
        )

    def test_what_goes_with_a_stop(self):
        """Directories below /run, unless they are preserved; `restart` preserves them over that."""
        for preserve, stopped, restarted in (("", 1, 1), ("yes", 0, 0), ("restart", 1, 0)):
            unit = self.unit("RuntimeDirectory=x\nRuntimeDirectoryPreserve=%s\n" % preserve)
            gone = [PathEffect("/run/x", "absent")]
            self.assertEqual(runtime_directories(unit, restart=False), gone * stopped)
            self.assertEqual(runtime_directories(unit, restart=True), gone * restarted)


if __name__ == "__main__":
    unittest.main()
