import unittest

from remote_runtime.system.kernel import fstab
from remote_runtime.system.kernel.fstab import Entry

DEBIAN = """\
# /etc/fstab: static file system information.
#
# <file system> <mount point>   <type>  <options>       <dump>  <pass>
# / was on /dev/sda1 during installation
UUID=0a1b2c3d-0000-4000-8000-000000000001 /               ext4    errors=remount-ro 0       1
# swap was on /dev/sda5 during installation
UUID=0a1b2c3d-0000-4000-8000-000000000002 none            swap    sw              0       0
/dev/sr0        /media/cdrom0   udf,iso9660 user,noauto     0       0
"""
FEDORA = """\

#
# /etc/fstab
# Created by anaconda on Mon Jan  1 00:00:00 2024
#
# Accessible filesystems, by reference, are maintained under '/dev/disk/'.
#
UUID=0a1b2c3d-0000-4000-8000-000000000001 /             btrfs   subvol=root,compress=zstd:1 0 0
UUID=0a1b2c3d-0000-4000-8000-000000000003 /boot                   ext4    defaults        1 2
UUID=ABCD-1234          /boot/efi               vfat    umask=0077,shortname=winnt 0 2
UUID=0a1b2c3d-0000-4000-8000-000000000001 /home         btrfs   subvol=home,compress=zstd:1 0 0
"""
RHEL = """\
/dev/mapper/rhel-root   /                       xfs     defaults        0 0
/dev/mapper/rhel-swap   none                    swap    defaults        0 0
tmpfs                   /dev/shm                tmpfs   defaults,size=2g        0 0
"""
CLOUD = (
    "LABEL=cloudimg-rootfs\t/\t ext4\tdiscard,errors=remount-ro\t0 1\n"
    "LABEL=UEFI\t/boot/efi\tvfat\tumask=0077\t0 1"
)
SERVERS = """\
10.0.11.11:/pool1/volume1 /pool1/volume1 nfs4 rsize=8192,wsize=8192,timeo=14,intr,_netdev 0 0
/pool1/volume1/ /prod/ none x-systemd.requires=/pool1/volume1,bind    0    0
//server/my\\040share  /mnt/my\\040share\tcifs credentials=/etc/a\\011b,uid=1000 0 0   # extra
  /swapfile swap swap pri=5
proc /proc proc
broken
"""
TEXTS = (DEBIAN, FEDORA, RHEL, CLOUD, SERVERS, "", "\n", "# nothing")


def names(text: str) -> "list[str]":
    found = [fstab.entry_of(line) for line in text.split("\n")]
    return [one.device if one.type == "swap" else one.point for one in found if one]


class TableTest(unittest.TestCase):
    def test_round_trips(self) -> None:
        """Each entry of real tables, written as it is, leaves every byte; a new one only adds."""
        for text in TEXTS:
            for name in names(text):
                entry = fstab.find(text, name)
                assert entry is not None
                self.assertEqual(fstab.with_entry(text, entry, name), text, name)
            new = Entry("a b", "/new\tx", "ext4", "ro", "0", "2")
            longer = fstab.with_entry(text, new, new.point)
            self.assertTrue(longer.startswith(text))
            self.assertTrue(longer.endswith("a\\040b\t/new\\011x\text4\tro\t0\t2\n"))
            self.assertEqual(fstab.find(longer, new.point), new)
            end = "" if text.endswith("\n") or not text else "\n"
            self.assertEqual(fstab.without_entry(longer, new.point), text + end)

    def test_one_field_changes(self) -> None:
        """The blanks, the other fields and what follows them stay."""
        name = "/mnt/my share"
        entry = fstab.find(SERVERS, name)
        assert entry is not None
        self.assertEqual(entry.options, "credentials=/etc/a\tb,uid=1000")
        text = fstab.with_entry(SERVERS, entry._replace(options="ro"), name)
        old, new = SERVERS.split("\n"), text.split("\n")
        self.assertEqual(new[2], "//server/my\\040share  /mnt/my\\040share\tcifs ro 0 0   # extra")
        self.assertEqual(old[:2] + old[3:], new[:2] + new[3:])

    def test_missing_fields(self) -> None:
        """They have the usual values, and are written only where another one is wanted."""
        entry = fstab.find(SERVERS, "/proc")
        self.assertEqual(entry, Entry("proc", "/proc", "proc", "defaults", "0", "0"))
        assert entry is not None
        text = fstab.with_entry("proc /proc proc", entry._replace(passno="2"), "/proc")
        self.assertEqual(text, "proc /proc proc defaults 0 2")

    def test_swap_and_slashes(self) -> None:
        """Swap is found by its device, a mount point with a slash at its end without it."""
        found = fstab.find(SERVERS, "/swapfile")
        self.assertEqual(found and found.options, "pri=5")
        self.assertIsNone(fstab.find(SERVERS, "swap"))
        found = fstab.find(SERVERS, "/prod")
        self.assertEqual(found and found.device, "/pool1/volume1/")
        self.assertIsNone(fstab.find(SERVERS, "/nowhere"))

    def test_the_last_one_counts(self) -> None:
        """Of several entries for a point the last is on top; all of them go."""
        text = "a /x ext4\n# b\nc /x ext4\n"
        found = fstab.find(text, "/x")
        self.assertEqual(found and found.device, "c")
        assert found is not None
        self.assertEqual(
            fstab.with_entry(text, found._replace(device="d"), "/x"),
            "a /x ext4\n# b\nd /x ext4\n",
        )
        self.assertEqual(fstab.without_entry(text, "/x"), "# b\n")


class OptionsTest(unittest.TestCase):
    def test_meaning(self) -> None:
        """Order and ``defaults`` do not count, nor what is usual; a later word overrides."""
        for one, other in (
            ("ro,nodev", "nodev,ro"),
            ("defaults,ro", "ro"),
            ("defaults", "rw"),
            ("ro,rw", "defaults"),
            ("rw,ro", "ro"),
            ("a,a,b", "b,a"),
        ):
            self.assertTrue(fstab.means_same(one, other), one)
        for one, other in (("ro", "rw"), ("size=1m", "size=2m"), ("bind", "bind,ro")):
            self.assertFalse(fstab.means_same(one, other), one)

    def test_words(self) -> None:
        """Commas between quotes separate nothing; programs' own options are not the kernel's."""
        self.assertEqual(fstab.words_of('context="a:b,c",ro,defaults'), ['context="a:b,c"', "ro"])
        options = "defaults,ro,nofail,noauto,x-systemd.requires=/a,_netdev,user,bind"
        self.assertEqual(fstab.for_kernel(options), ["ro", "bind"])

    def test_sizes(self) -> None:
        """A number of any length is looked at; one that no size can have is none."""
        for text, expected in (
            ("64m", 64 << 20),
            ("2%", None),
            ("\u00b2", None),
            ("9" * 5000, None),
        ):
            self.assertEqual(fstab.size_of(text), expected, text[:9])

    def test_what_differs(self) -> None:
        """Flags that are not named have to be off, but those of a bind mount are taken over."""
        for options, on_mount, on_system, expected in (
            ("defaults", "rw,relatime", "rw", []),
            ("defaults", "rw,nosuid,noexec", "rw", ["suid", "exec"]),
            ("bind", "rw,nosuid,noexec", "rw", []),
            ("bind,ro", "rw,nosuid", "rw", ["ro"]),
            ("ro", "rw", "rw", ["ro"]),
            ("rw", "rw", "ro", ["rw"]),
            ("user", "rw,nosuid,nodev,noexec", "rw", []),
            ("user,exec", "rw,nosuid,nodev", "rw", []),
            ("noatime", "rw,relatime", "rw", ["noatime"]),
            ("strictatime", "rw", "rw", []),
            ("size=1m,nr_inodes=1k", "rw", "rw,size=1024k,nr_inodes=1024", []),
            ("size=2m", "rw", "rw,size=1024k", ["size=2m"]),
            ("size=50%", "rw", "rw,size=1024k", []),
        ):
            found = fstab.differing(options, on_mount.split(","), on_system.split(","))
            self.assertEqual(found, expected, options)


class PasswordTest(unittest.TestCase):
    def test_passwords(self):
        """They are masked, whatever they hold, and nothing else is."""
        for options, shown in (
            ("username=u,password=secret,vers=3.0", "username=u,password=[masked],vers=3.0"),
            ("PASS=a,,b,ro", "PASS=[masked],ro"),
            ("rw, passwd = x y ,password2=z", "rw, passwd =[masked],password2=[masked]"),
            ("user=dom/me%secret,ro", "user=dom/me%[masked],ro"),
            ("user,passno=1,credentials=/root/x,password=", ""),
        ):
            self.assertEqual(fstab.masked(options, "[masked]"), shown or options)


if __name__ == "__main__":
    unittest.main()
