import unittest

from remote_runtime.system.paths import is_within


class PathsTest(unittest.TestCase):
    def test_what_is_within_a_folder(self) -> None:
        """The folder itself and what is below it, not what begins with the same letters."""
        for path, folder, expected in (
            ("/srv", "/srv", True),
            ("/srv/a/b", "/srv", True),
            ("/srv/a", "/srv/", True),
            ("/srv", "/", True),
            ("/", "/", True),
            ("/srv2", "/srv", False),
            ("/", "/srv", False),
        ):
            self.assertIs(is_within(path, folder), expected, (path, folder))
