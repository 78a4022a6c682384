"""Which of apt's pins keeps a package from being installed."""

import os
import unittest

from remote_runtime.packages.apt import preferences as apt_preferences

from ..fakes import DirectoryTest

PIN = """Explanation: not yet
Package: nginx nginx-*
Pin: release *
Pin-Priority: -1

Package: curl
Pin: version 7.*
Pin-Priority: 1001
"""


class Preferences(DirectoryTest):
    def test_a_pin(self):
        """It is named with its file; one that only prefers a version keeps nothing away."""
        for path in (
            "etc/apt/preferences",
            "etc/apt/preferences.d/web",
            "etc/apt/preferences.d/a.pref",
        ):
            full = self.path(path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write(PIN)
            for name in ("nginx", "nginx-light"):
                found = apt_preferences.find(name, self.path(""))
                assert found is not None
                self.assertIn("release *, priority -1) in /" + path, found[0])
            self.assertIsNone(apt_preferences.find("curl", self.path("")))
            os.unlink(full)

    def test_files_that_apt_does_not_read(self):
        """Another ending is none of apt's, and no file at all has no pin."""
        self.assertIsNone(apt_preferences.find("nginx", self.path("")))
        os.makedirs(self.path("etc/apt/preferences.d"))
        with open(self.path("etc/apt/preferences.d/a.bak"), "w") as file:
            file.write(PIN)
        self.assertIsNone(apt_preferences.find("nginx", self.path("")))


if __name__ == "__main__":
    unittest.main()
