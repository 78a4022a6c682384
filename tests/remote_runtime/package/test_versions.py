"""The orders of versions, against dpkg itself and the documents' tables."""

import itertools
import random
import shutil
import subprocess
import unittest

from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.versions import debian as debian_version
from remote_runtime.packages.versions import generic as generic_version
from remote_runtime.packages.versions import rpm as rpm_version

from ..fake_commands import FakeCommands, make_context

DOCUMENTED = [
    ("1.0", "2.0", -1),
    ("1:1.0", "2.0", 1),
    ("1.0~alpha", "1.0", -1),
    ("1.0~~", "1.0~", -1),
    ("1.0~alpha", "1.0~beta", -1),
    ("1.0.1", "1.0.2", -1),
    ("1.0-1", "1.0-2", -1),
    ("1.0a", "1.0-", -1),
    ("9", "13", -1),
    ("1.0", "1.0", 0),
]
WRITTEN = (
    "0 1 1.0 1.00 1.0-0 1.0-1 0:1.0 1:0.9 2:1.0.0+git-20190109-0ubuntu2 1.0~rc1-1 1.0~~ 1.0~ "
    "1.0+b1 5.9-8+b18 5.2.15-2+b8 1.2.3-4.5~deb12u1 1.10 1.9 1a 1a1 1A 1.a 1-a-b 20240101 007 "
    "1.0.0 1.0. 1..0 3:1 1.0-1~bpo12+1"
).split()


def generated(count):
    """Versions that differ in the places where the order has its rules."""
    picker = random.Random(20)
    alphabet = "0019aAzZ~~+.-."
    for _ in range(count):
        body = picker.choice("0123456789") + "".join(
            picker.choice(alphabet) for _ in range(picker.randrange(7))
        )
        yield picker.choice(["", "", "", "0:", "1:"]) + body.rstrip("-")


def as_dpkg_orders(pairs):
    """One shell asks dpkg about all pairs: -1, 0, 1 or "refused" for each."""
    one = (
        "dpkg --compare-versions '%s' lt '%s'; case $? in 0) echo -1;; "
        "1) dpkg --compare-versions '%s' eq '%s'; echo $?;; *) echo refused;; esac\n"
    )
    script = "".join(one % (a, b, a, b) for a, b in pairs)
    done = subprocess.run(
        ["sh"], input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    return done.stdout.decode().split()


class DebianOrder(unittest.TestCase):
    def test_the_documents_examples(self):
        """Every example of the documents comes out as they say."""
        for left, right, order in DOCUMENTED:
            self.assertEqual(debian_version.compare(left, right), order, (left, right))
            self.assertEqual(debian_version.compare(right, left), -order, (right, left))

    def test_a_version_is_cut_into_epoch_upstream_and_revision(self):
        """The epoch ends at the first colon and the revision begins at the last hyphen."""
        self.assertEqual(debian_version.split("1.0"), (0, "1.0", ""))
        self.assertEqual(debian_version.split("1:2.0-3"), (1, "2.0", "3"))
        self.assertEqual(
            debian_version.split("2:1.0.0+git-20190109-0ubuntu2"),
            (2, "1.0.0+git-20190109", "0ubuntu2"),
        )

    @unittest.skipUnless(shutil.which("dpkg"), "there is no dpkg to compare with")
    def test_thousands_of_pairs_as_dpkg_orders_them(self):
        """For every pair of versions dpkg gives the same answer."""
        pairs = list(itertools.product(WRITTEN, WRITTEN))
        made = list(generated(2000))
        pairs += list(zip(made, made[1:]))
        pairs += [(one, one.replace("0", "00", 1)) for one in made[:300]]
        answers = as_dpkg_orders(pairs)
        self.assertNotIn("refused", answers)
        self.assertEqual(len(answers), len(pairs))
        wrong = [
            (a, b, answer, debian_version.compare(a, b))
            for (a, b), answer in zip(pairs, answers)
            if int(answer) != debian_version.compare(a, b)
        ]
        self.assertEqual(wrong, [])


class RpmOrder(unittest.TestCase):
    """The rules one by one; test_dnf_on_host.py compares thousands of pairs with rpm itself."""

    def test_each_rule(self):
        """Epoch, numbers, letters, tilde, caret and release each decide in their place."""
        ordered = [
            ("0:9.0-9", "1:0.1-1"),
            ("0:1.9-1", "0:1.10-1"),
            ("0:1.a-1", "0:1.0-1"),
            ("0:1.0a-1", "0:1.0b-1"),
            ("0:1.0A-1", "0:1.0a-1"),
            ("0:1.0-1", "0:1.0.1-1"),
            ("0:1.0~~-1", "0:1.0~-1"),
            ("0:1.0~rc1-1", "0:1.0-1"),
            ("0:1.0-1", "0:1.0^git1-1"),
            ("0:1.0^git1-1", "0:1.0.1-1"),
            ("0:1.0~rc1^git-1", "0:1.0-1"),
            ("0:1.0-9.el9", "0:1.0-10.el9"),
            ("0:1.0-9~el9", "0:1.0-9"),
        ]
        for older, newer in ordered:
            self.assertEqual(rpm_version.compare(older, newer), -1, (older, newer))
            self.assertEqual(rpm_version.compare(newer, older), 1, (newer, older))

    def test_separators_and_leading_zeroes_do_not_count(self):
        """What only separates is alike, and a number is its value."""
        for one, other in (("1.0-1", "1_0-1"), ("1.0-1", "1..0-1"), ("1.05-1", "1.5-01")):
            self.assertEqual(rpm_version.compare("0:" + one, "0:" + other), 0, (one, other))

    def test_what_is_not_named_is_not_compared(self):
        """Without a release any release is equal, without an epoch any epoch."""
        for wanted in ("5.8", "5.8-9.el9", "2:5.8", "2:5.8-9.el9"):
            self.assertEqual(rpm_version.compare("2:5.8-9.el9", wanted), 0, wanted)
        for wanted, order in (("5.9", -1), ("0:5.8", 1), ("3:5.8", -1), ("5.8-8", 1), ("5", 1)):
            self.assertEqual(rpm_version.compare("2:5.8-9.el9", wanted), order, wanted)

    def test_a_version_is_cut_into_epoch_version_and_release(self):
        """The documents' examples come apart as they say."""
        self.assertEqual(rpm_version.split("5.8-9.el9"), (None, "5.8", "9.el9"))
        self.assertEqual(rpm_version.split("1:2.0-3.fc39"), (1, "2.0", "3.fc39"))
        self.assertEqual(rpm_version.split("0:1.0.0-1.el9"), (0, "1.0.0", "1.el9"))
        self.assertEqual(rpm_version.split("1.0"), (None, "1.0", None))


class LongNumbers(unittest.TestCase):
    def test_numbers_may_be_longer_than_python_reads(self):
        """A version is a stranger's text: however long its numbers are, they have an order."""
        for order in (debian_version, rpm_version, generic_version):
            for prefix in ("", "1:"):
                one, other = prefix + "1." + "1" * 5000, prefix + "1." + "2" * 5000
                self.assertEqual(order.compare(one, other), -1)
                self.assertEqual(order.compare(other, one), 1)
                self.assertEqual(order.compare(one, one), 0)


class GenericOrder(unittest.TestCase):
    def test_each_rule_of_the_documents(self):
        """Hyphen before dot before the rest; digits as numbers; a leading zero as text."""
        ordered = [
            ("1-2", "1.2"),
            ("1-2", "1a2"),
            ("1.2", "1a2"),
            ("1.9", "1.10"),
            ("1.01", "1.1"),
            ("1.alpha", "1.beta"),
            ("1.2", "1.2.1"),
            ("1.2", "1.2-1"),
            ("1.0", "2.0"),
            ("1.0", "1.0.1"),
            ("1.0-1", "1.0-2"),
            ("1.0a", "1.0b"),
            ("01", "1"),
            ("1.0", "1.0.0"),
        ]
        for older, newer in ordered:
            self.assertEqual(generic_version.compare(older, newer), -1, (older, newer))
            self.assertEqual(generic_version.compare(newer, older), 1, (newer, older))

    def test_a_provider_without_an_order_of_its_own_has_this_one(self):
        """What is written for another package manager orders versions so."""
        provider = PackageManager(make_context(FakeCommands()))
        pairs = [("1.9", "1.10"), ("1.0", "1.0.0"), ("2.0", "1.0"), ("1.0", "1.0")]
        self.assertEqual([provider.compare(*pair) for pair in pairs], [-1, -1, 1, 0])

    def test_case_does_not_count(self):
        """Letters compare without regard to case."""
        self.assertEqual(generic_version.compare("1.RC1", "1.rc1"), 0)
        self.assertEqual(generic_version.compare("1.RC1", "1.rc2"), -1)

    def test_trailing_zeroes_can_be_left_out(self):
        """Zeroes at the end of the part before a hyphen count only when asked to."""
        self.assertEqual(generic_version.compare("1.0.0-2", "1-2"), 1)
        self.assertEqual(generic_version.compare("1.0.0-2", "1-2", True), 0)
        self.assertEqual(generic_version.compare("2.0.0", "2", True), 0)
        self.assertEqual(generic_version.compare("1.10", "1.1", True), 1)
        self.assertEqual(generic_version.compare("10", "1", True), 1)


if __name__ == "__main__":
    unittest.main()
