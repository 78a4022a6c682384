"""What keeps a package from being installed, by what the lists and the settings say."""

import unittest
from typing import Any

from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import Available, Installed
from remote_runtime.resources.package.preconditions import Preconditions


class Package(object):
    """The package x, which a setting excludes, or none."""

    title = "x"

    def __init__(self, excluded=None, providers=()):
        self._excluded, self._providers = excluded, providers

    def exclusion(self):
        return self._excluded

    def providers_of(self):
        return self._providers

    def not_listed(self):
        manager: Any = self
        return PackageManager.not_listed(manager, self.title)

    def shown(self, version):
        return version

    def matching(self, available, wanted):
        return wanted if wanted in available.versions else None


SETTING = ("`exclude=x` in /etc/dnf/dnf.conf", "remove it from that line")


def found(available, ensure="present", installed=None, **settings):
    package: Any = Package(**settings)
    return Preconditions(package, ensure).installation(installed or Installed(), available)


class Obstacles(unittest.TestCase):
    def test_nothing_is_in_the_way(self):
        """A candidate, or the version that is asked for, is enough."""
        self.assertIsNone(found(Available(True, "2", ("2", "1"))))
        self.assertIsNone(found(Available(True, "", ("2", "1")), "1"))

    def test_each_obstacle_says_what_to_do(self):
        """A hold, an unknown name, a version, pins, virtual packages, and the setting of each."""
        held = Installed("1", "installed", held=True)
        rows = [
            (found(Available(True, "2", ("2",)), "latest", held), "held at version 1", "apt-mark"),
            (found(Available()), "not in the package lists", "update_cache"),
            (found(Available(), excluded=SETTING), "x is excluded by `exclude=x`", "that line"),
            (found(Available(True, "1", ("1",)), "2"), "version 2 of x is not", "available: 1"),
            (found(Available(True, "1", ("1",)), "2", excluded=SETTING), "version 2", "dnf.conf"),
            (found(Available(True, "", ("1",))), "no installation candidate", "preferences"),
            (found(Available(True, "", ("1",)), excluded=SETTING), "candidate", "dnf.conf excl"),
            (
                found(Available(True)),
                "no installation candidate",
                "only other packages refer to it",
            ),
            (found(Available(True), excluded=SETTING), "x is excluded by", "that line"),
            (found(Available(True), providers=("a", "b")), "virtual package", "a, b"),
        ]
        for obstacle, message, hint in rows:
            assert obstacle is not None
            self.assertIn(message, obstacle.message)
            self.assertIn(hint, obstacle.hint)


if __name__ == "__main__":
    unittest.main()
