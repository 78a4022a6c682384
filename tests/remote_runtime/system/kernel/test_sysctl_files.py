import unittest

from remote_runtime.system.kernel import sysctl_files
from remote_runtime.system.kernel.sysctl_files import Setting

TEXT = """\
# a comment = no setting
; another = one
net.ipv4.ip_forward=0
-net/ipv4/conf/eth0.100/forwarding =  1
net.ipv4.conf.*.rp_filter = 2

net.ipv4.ip_forward = 1
kernel.core_pattern = |/usr/bin/x %p=%u
no setting
"""


class PathTest(unittest.TestCase):
    def test_separators(self) -> None:
        """What stands first separates the parts, as sysctl has it."""
        for name, path in (
            ("net.ipv4.ip_forward", "net/ipv4/ip_forward"),
            ("net/ipv4/ip_forward", "net/ipv4/ip_forward"),
            ("net.ipv4.conf.eth0/100.forwarding", "net/ipv4/conf/eth0.100/forwarding"),
            ("net/ipv4/conf/eth0.100/forwarding", "net/ipv4/conf/eth0.100/forwarding"),
        ):
            self.assertEqual(sysctl_files.path_of(name), path)
            self.assertEqual(sysctl_files.path_of(sysctl_files.name_of(path)), path)


class TextTest(unittest.TestCase):
    def test_parsed(self) -> None:
        """Comments, patterns and lines without a value are no settings."""
        self.assertEqual(
            sysctl_files.parsed("/f", TEXT),
            [
                Setting("/f", 3, "net/ipv4/ip_forward", "0"),
                Setting("/f", 4, "net/ipv4/conf/eth0.100/forwarding", "1"),
                Setting("/f", 7, "net/ipv4/ip_forward", "1"),
                Setting("/f", 8, "kernel/core_pattern", "|/usr/bin/x %p=%u"),
            ],
        )

    def test_a_line_is_replaced(self) -> None:
        """The last line of a parameter gets the value, earlier ones go, all others stay."""
        text = sysctl_files.with_setting(TEXT, "net/ipv4/ip_forward", "2")
        lines = TEXT.split("\n")
        lines[6] = "net/ipv4/ip_forward = 2"
        del lines[2]
        self.assertEqual(text.split("\n"), lines)
        self.assertEqual(sysctl_files.with_setting(text, "net/ipv4/ip_forward", "2"), text)

    def test_a_line_is_added(self) -> None:
        """A new parameter stands at the end, also behind a line without an end."""
        for before in ("", "a = 1\n", "a = 1", "# x\n"):
            text = sysctl_files.with_setting(before, "b.c", "1 2")
            end = "\n" if before and not before.endswith("\n") else ""
            self.assertEqual(text, before + end + "b.c = 1 2\n")
            self.assertEqual(sysctl_files.without_setting(text, "b/c"), before + end)

    def test_bare(self) -> None:
        """Comments alone set nothing."""
        self.assertTrue(sysctl_files.is_bare("# a\n\n; b\n"))
        self.assertFalse(sysctl_files.is_bare("# a\nb = 1\n"))


class ValueTest(unittest.TestCase):
    def test_same(self) -> None:
        """Blanks and the spelling of numbers do not count, words do."""
        for one, other in (("4096\t1 2", "4096  1 2"), ("0x10", "16"), ("010", "8"), ("-1", "-1")):
            self.assertTrue(sysctl_files.is_same(one, other), one)
        for one, other in (("1", "2"), ("a", "A"), ("1 2", "1"), ("", "0"), ("1_0", "10")):
            self.assertFalse(sysctl_files.is_same(one, other), one)
        self.assertTrue(sysctl_files.is_same(None, None))
        self.assertFalse(sysctl_files.is_same(None, "1"))

    def test_ranges(self) -> None:
        """A list of numbers is the same however its ranges are written."""
        self.assertTrue(sysctl_files.is_held("8080-8081,9000", "9000,8080,8081"))
        for one, other in (("80-81", "80"), ("80-", "80"), ("81-80", ""), ("a,b", "b,a")):
            self.assertFalse(sysctl_files.is_same(one, other), one)

    def test_held(self) -> None:
        """Fewer numbers than the kernel has stand for the first ones; of words all count."""
        self.assertTrue(sysctl_files.is_held("3 4 1 7", "3"))
        self.assertTrue(sysctl_files.is_held("3 4 1 7", "3 4 1 7"))
        self.assertFalse(sysctl_files.is_held("4 4 1 7", "3"))
        self.assertFalse(sysctl_files.is_held("3", "3 4"))
        self.assertFalse(sysctl_files.is_held("cubic reno", "cubic"))

    def test_numbers(self) -> None:
        """As the kernel reads them."""
        for word, number in (("0", 0), ("-7", -7), ("0x1F", 31), ("017", 15)):
            self.assertEqual(sysctl_files.number_of(word), number)
        for word in ("", "-", "--1", "08", "1k", "x", "0x", "²", "1.5"):
            self.assertIsNone(sysctl_files.number_of(word), word)


if __name__ == "__main__":
    unittest.main()
