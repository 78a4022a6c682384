"""What a planned reboot may change, according to the table of mounts and fstab."""

import unittest

from remote_runtime.host.preview.post_reboot import RebootCoverage
from tests.remote_runtime.fakes import DirectoryTest

_MOUNTED = b"/dev/a / ext4 rw 0 0\n/dev/b /srv ext4 rw 0 0\n/dev/c /data ext4 rw 0 0\n"


class RebootCoverageTest(DirectoryTest):
    def changed(self, table, *paths):
        """Those of the paths that a boot with this fstab may change."""
        covers = RebootCoverage(table, self.write("mounts", _MOUNTED))
        return [path for path in paths if covers("path", path, True)]

    def test_what_is_in_the_table(self):
        """What is mounted and in fstab stays; what is in only one of them may change."""
        table = "/dev/a / ext4 defaults 0 1\n/dev/b /srv ext4 defaults 0 2\n/dev/d /new ext4 rw\n"
        found = self.changed(table, "/etc/x", "/srv/x", "/data/x", "/new/x", "/run/x")
        self.assertEqual(found, ["/data/x", "/new/x", "/run/x"])
        self.assertEqual(self.changed(None, "/etc/x"), ["/etc/x"])

    def test_what_a_boot_does_not_mount(self):
        """With noauto, a file system that is mounted goes, and one that is not does not come."""
        table = (
            "/dev/b /srv ext4 noauto,ro\n/dev/c /data ext4 rw,noautox\n/dev/d /new ext4 noauto\n"
        )
        self.assertEqual(self.changed(table, "/srv/x", "/data/x", "/new/x"), ["/srv/x"])


if __name__ == "__main__":
    unittest.main()
