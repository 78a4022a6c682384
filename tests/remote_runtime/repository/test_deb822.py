"""Sources of apt as text."""

import unittest

from remote_runtime.resources.repository import deb822

WRITTEN = """\
# by hand
types:   deb
URIs: https://packages.example.org/debian
Suites: bookworm
   bookworm-updates
# a comment in between
Components: main contrib
Enabled: yes
X-Note: kept
"""


class Deb822Test(unittest.TestCase):
    def test_meaning(self):
        """Case, order, comments, slashes and line breaks make no difference."""
        properties = {
            "urls": ["https://packages.example.org/debian/"],
            "suites": ["bookworm", "bookworm-updates"],
            "components": ["main", "contrib"],
            "options": {"X-Note": "kept"},
        }
        text = deb822.written(deb822.stanza_of(properties, []))
        self.assertEqual(
            deb822.state_of(deb822.read(text)[0]), deb822.state_of(deb822.read(WRITTEN)[0])
        )

    def test_all_fields(self):
        """Every property has its field, and options follow in the order of their names."""
        properties = {
            "url": "https://x/y",
            "suites": ["./"],
            "types": ["deb", "deb-src"],
            "architectures": ["amd64", "arm64"],
            "enabled": False,
            "gpgcheck": False,
            "description": "A name",
            "options": {"Languages": ["de", "en"], "By-Hash": True, "Check-Valid-Until": False},
        }
        self.assertEqual(
            deb822.written(deb822.stanza_of(properties, ["/k.gpg"])),
            "X-Repolib-Name: A name\nEnabled: no\nTypes: deb deb-src\nURIs: https://x/y\n"
            "Suites: ./\nArchitectures: amd64 arm64\nSigned-By: /k.gpg\nTrusted: yes\n"
            "By-Hash: yes\nCheck-Valid-Until: no\nLanguages: de en\n",
        )

    def test_stanzas(self):
        """Empty lines separate stanzas; one of comments alone is none."""
        text = "\n\nTypes: deb\n\n# only this\n\nTypes: deb-src\n"
        self.assertEqual(deb822.read(text), [{"Types": "deb"}, {"Types": "deb-src"}])
        self.assertEqual(deb822.read(""), [])

    def test_a_key_in_the_file(self):
        """A key instead of its path is told as that."""
        text = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n"
        self.assertEqual(deb822.state_of(deb822.read(text)[0])["signed_by"], ["a key in the file"])

    def test_entries(self):
        """Each suite of each address is a source, of lists of lines as well."""
        lines = (
            "# deb http://off/ a main\n"
            "deb [arch=amd64 signed-by=/k.asc] http://x/debian bookworm main # here\n"
            "deb-src http://x/debian/ bookworm main\n\nnonsense\ndeb 'http://q/' ./\n"
            "deb\t[signed-by=/t]\thttp://t/ a main\ndeb\n"
        )
        self.assertEqual(
            list(deb822.entries("/l.list", lines)),
            [
                ("http://x/debian/", "bookworm", "/k.asc", "/l.list:2"),
                ("http://x/debian/", "bookworm", "", "/l.list:3"),
                ("http://q/", "./", "", "/l.list:6"),
                ("http://t/", "a", "/t", "/l.list:7"),
            ],
        )
        off = "Enabled: no\nTypes: deb\nURIs: http://x\nSuites: a\n"
        self.assertEqual(list(deb822.entries("/s.sources", off)), [])
        on = "Types: deb\nURIs: http://x http://y\nSuites: a b\nSigned-By: /k\n"
        self.assertEqual(len(list(deb822.entries("/s.sources", on))), 4)


if __name__ == "__main__":
    unittest.main()
