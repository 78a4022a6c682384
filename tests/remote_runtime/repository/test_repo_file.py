"""Sections of .repo files."""

import unittest

from remote_runtime.resources.repository import repo_file

FILE = """\
# of the distribution
[base]
name=Base
baseurl=https://x/base
enabled=1

# the debug packages
[debug]
name = Debug
baseurl=https://x/debug,https://y/debug
    https://z/debug
enabled=no
gpgkey=file:///a https://b
includepkgs=one
"""


class RepoFileTest(unittest.TestCase):
    def test_meaning(self):
        """Lists may have commas and several lines, and other words stand for no."""
        state = repo_file.state_of(repo_file.sections(FILE)["debug"])
        self.assertEqual(state["urls"], ["https://x/debug", "https://y/debug", "https://z/debug"])
        self.assertEqual((state["enabled"], state["gpgcheck"]), (False, False))
        self.assertEqual(state["signed_by"], ["/a", "https://b"])
        self.assertEqual(state["other_options"], ["includepkgs=one"])

    def test_written(self):
        """Every property has its key."""
        properties = {
            "urls": ["https://x", "https://y"],
            "mirrorlist": "https://m",
            "description": "Two words",
            "priority": 10,
            "repo_gpgcheck": True,
            "options": {"skip_if_unavailable": False, "includepkgs": ["a", "b"]},
        }
        self.assertEqual(
            repo_file.written("two", properties, ["/k"]),
            "[two]\nname=Two words\nbaseurl=https://x https://y\nmirrorlist=https://m\nenabled=1\n"
            "gpgcheck=1\nrepo_gpgcheck=1\ngpgkey=file:///k\npriority=10\nincludepkgs=a b\n"
            "skip_if_unavailable=0\n",
        )

    def test_other_sections_stay(self):
        """Replacing or removing a section leaves every other byte of the file."""
        changed = repo_file.replaced(FILE, "base", "[base]\nname=New\n")
        self.assertEqual(changed.partition("[debug]")[2], FILE.partition("[debug]")[2])
        self.assertIn("# of the distribution\n[base]\nname=New\n\n# the debug", changed)
        removed = repo_file.replaced(FILE, "debug", None)
        self.assertEqual(FILE.partition("[debug]")[0], removed)
        added = repo_file.replaced(FILE, "new", "[new]\nname=New\n")
        self.assertEqual(added, FILE + "\n[new]\nname=New\n")
        self.assertEqual(repo_file.replaced("", "new", "[new]\n"), "[new]\n")

    def test_empty(self):
        """A file of comments is empty."""
        self.assertTrue(repo_file.is_empty("# a\n\n; b\n"))
        self.assertFalse(repo_file.is_empty(FILE))


if __name__ == "__main__":
    unittest.main()
