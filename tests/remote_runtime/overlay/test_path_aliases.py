"""What is seen at two paths because it is mounted twice."""

import os
import unittest

from remote_runtime.content import Content
from remote_runtime.effects import PathEffect
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.path_aliases import Mounts
from remote_runtime.system.files import Files

from ..fakes import DirectoryTest

_TABLE = """\
1 0 8:1 / / rw - ext4 /dev/sda1 rw
2 1 8:1 /srv/src /mnt/b rw - ext4 /dev/sda1 rw
3 1 8:1 /srv/one\\040file /etc/one rw - ext4 /dev/sda1 rw
4 1 0:5 / /proc rw - proc proc rw
5 1 8:2 / /data rw - ext4 /dev/sdb1 rw
6 1 0:9 / /mnt/b/hidden rw - tmpfs none rw
"""


class Nothing(Content):
    size = 0


class MountsTest(DirectoryTest):
    def mounts(self, table=_TABLE):
        return Mounts(self.write("mountinfo", table.encode()))

    def test_other_paths(self):
        """Both ways, for a directory and for a file, and not where something else is mounted."""
        mounts = self.mounts()
        for path, others in (
            ("/srv/src/a", ["/mnt/b/a"]),
            ("/mnt/b/a/b", ["/srv/src/a/b"]),
            ("/srv/src", ["/mnt/b"]),
            ("/srv/one file", ["/etc/one"]),
            ("/srv/src/hidden/x", []),
            ("/srv/srcs", []),
            ("/data/x", []),
            ("/proc/1", []),
        ):
            self.assertEqual(mounts.others(path), others, path)
        self.assertEqual(Mounts(self.path("none")).others("/srv"), [])

    def test_what_is_planned_at_one_is_seen_at_the_other(self):
        """A file comes and goes at both, with the directories above it."""
        table = "1 0 8:1 / / rw - x y rw\n2 1 8:1 %s %s rw - x y rw\n"
        source, seen = self.path("src"), self.path("seen")
        layer = FileOverlay(Files(), self.mounts(table % (source, seen)))
        for directory in (source, seen):
            os.mkdir(directory)
        layer.put(PathEffect(seen + "/d/f", "file", content=Nothing()), 1, "file#x")
        for path, kind in (("/d/f", "file"), ("/d", "directory")):
            node = layer.find(source + path, follow=False).node
            self.assertEqual(node and node.kind, kind)
        layer.put(PathEffect(source + "/d", "absent"), 2, "file#y")
        self.assertFalse(layer.find(seen + "/d/f", follow=False).there)
        self.assertIsNone(layer.find(seen + "/d/f", follow=False).node)


if __name__ == "__main__":
    unittest.main()
