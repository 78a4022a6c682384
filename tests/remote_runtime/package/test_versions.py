"""The orders of versions, against dpkg itself and the documents' tables."""

import itertools
import random
import shutil
import subprocess
import unittest

from remote_runtime.resources.package import debian_version, generic_version

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
        ]
        for older, newer in ordered:
            self.assertEqual(generic_version.compare(older, newer), -1, (older, newer))
            self.assertEqual(generic_version.compare(newer, older), 1, (newer, older))

    def test_case_does_not_count(self):
        """Letters compare without regard to case."""
        self.assertEqual(generic_version.compare("1.RC1", "1.rc1"), 0)

    def test_trailing_zeroes_can_be_left_out(self):
        """Zeroes at the end of the part before a hyphen count only when asked to."""
        self.assertEqual(generic_version.compare("1.0.0-2", "1-2"), 1)
        self.assertEqual(generic_version.compare("1.0.0-2", "1-2", True), 0)


if __name__ == "__main__":
    unittest.main()
