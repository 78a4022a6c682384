"""Packages of consecutive turns are one transaction of dnf's where that does the same."""

import hashlib
import unittest
from typing import Any, List

from remote_runtime.packages.dnf import batch as dnf_batch
from remote_runtime.packages.dnf import new_packages
from remote_runtime.packages.package_info import Operation
from remote_runtime.registry import Registry
from remote_runtime.system.process.commands import Result

from .. import fakes
from ..fake_commands import FakeCommands, make_context

HEAD = " Package   Architecture   Version   Repository   Size\n====\n"
TAIL = "\nTransaction Summary\n"


def table(**sections):
    """What dnf prints: names by section, in which ``_`` stands for a blank."""
    rows = ""
    for title, names in sections.items():
        rows += title.replace("_", " ") + ":\n"
        rows += "".join(" %s   noarch   1-1   lab   6 k\n" % name for name in names)
    return "\n" + HEAD + rows + TAIL


def shared(names, printed, follows=(), removal=False):
    """The names that each operation changes, None where they cannot be one transaction."""
    operations = [Operation(name, removal=removal) for name in names]
    found = dnf_batch.shares(operations, printed, str, lambda _: set(follows))
    return None if found is None else [[change.name for change in share] for share in found]


class Shares(unittest.TestCase):
    def test_installations(self):
        """Each has its own package; dependencies and upgrades of others may come along."""
        printed = table(Installing=["a", "b"], Installing_dependencies=["libb"], Upgrading=["libc"])
        self.assertEqual(shared("ab", printed), [["a"], ["b"]])

    def test_removals(self):
        """What nothing needs any more may go along, what still needs them may not."""
        printed = table(Removing=["a", "b"], Removing_unused_dependencies=["libb"])
        self.assertEqual(shared("ab", printed, removal=True), [["a"], ["b"]])
        printed = table(Removing=["a", "b"], Removing_dependent_packages=["user"])
        self.assertIsNone(shared("ab", printed, removal=True))

    def test_what_comes_with_another(self):
        """It is left to its turn, with all that stand behind it; as the first it is changed."""
        printed = table(Installing=["a", "b", "c"])
        self.assertEqual(shared("abc", printed, follows="b"), [["a"], [], []])
        self.assertEqual(shared("abc", printed, follows="a"), [["a"], ["b"], ["c"]])

    def test_what_is_no_such_transaction(self):
        """Nothing printed, a name that is not in the table, a removal, a replacement."""
        replacing = table(Installing=["a", "b"]).replace(
            "6 k\n", "6 k\n     replacing  x.noarch 1\n", 1
        )
        for printed in (
            "",
            table(Installing=["a"]),
            table(Installing=["a", "b"], Removing=["x"]),
            replacing,
        ):
            self.assertIsNone(shared("ab", printed), printed)


# What repoquery says of a, b, c and libb: requirements, recommendations, what they provide, files.
DESCRIBED = {
    "a": ("/usr/share/x\nlibx", "", "a = 1-1", ""),
    "b": ("(virtual >= 1 or other)", "", "b = 1-1", ""),
    "c": ("", "x", "c = 1-1", ""),
    "libb": ("", "", "libb = 1-1\nvirtual = 2", "/usr/share/libb"),
}
ABORTED = "Operation aborted.\n"
QUERY = "dnf -q --setopt=exit_on_lock=True --setopt=*.metadata_expire=never --cacheonly repoquery "
INDEXED = QUERY + "--queryformat %{name}\t%{epoch}\t%{version}\t%{release}\t%{arch}\t%{repoid}\t"


def described(*names, **others):
    """What dnf prints about packages in the format of their dependencies."""
    rows = ""
    for name in names:
        sha = hashlib.sha256(name.encode()).digest()
        fields = (name, "0", "1", "1", "noarch", "lab", "9", "9", (2, sha))
        needs = others[name] if name in others else DESCRIBED[name]
        rows += "\t".join(map(str, (*fields, *needs))) + "\t\n\n"
    return rows


class NoLists(object):
    """Lists that are there."""

    def outdated(self, max_age):
        return ""

    def priorities(self):
        return lambda repository: 99


class Previews(unittest.TestCase):
    """Previews of new packages, whose contents nobody examines."""

    def setUp(self):
        self.commands = FakeCommands()
        self.commands.on("rpm -q", "")
        self.commands.on("dnf -q", "".join("%s\t0\t1\t1\tnoarch\tlab\n" % n for n in "abcd"))
        both = table(Installing=["a", "b", "c"], Installing_dependencies=["libb"])
        self.resolved(both)
        self.commands.on("rpm -q --queryformat %{NAME}\t", "")
        self.commands.on(INDEXED, described("a", "b", "c", "libb"))

    def resolved(self, *printed: str) -> None:
        """The tables that dnf prints about transactions, one after the other."""
        answers = [Result(1, each + ABORTED, "") for each in printed]
        self.commands.on("dnf install --assumeno", *answers)
        self.commands.on("dnf install -y", Result(1, "", "Error: no network"))

    def run_items(self, *names: str, **options: Any) -> Any:
        items = [
            fakes.item("package", name, at, provider="dnf", **options.get(name, {}))
            for at, name in enumerate(names)
        ]
        context = make_context(self.commands, items, noop=True)
        probes = options.get("package_probe", True)
        context.options = context.options._replace(package_probe=probes)
        registry = Registry(context)
        self.manager = registry.create(items[0]).provider.manager
        self.manager.lists = NoLists()
        return fakes.engine(context, registry, []).run(items, False)

    def simulated(self) -> List[str]:
        """The packages of each simulated transaction, first those that are not planned."""
        lines = [line for line in self.commands.asked if line.startswith("dnf install --assumeno")]
        words = [[w for w in line.split()[2:] if not w.startswith("--")] for line in lines]
        return [" ".join(word.partition("-")[0] for word in each) for each in words]

    def downloaded(self) -> List[str]:
        lines = [line.split() for line in self.commands.asked if "--downloadonly" in line]
        return ["".join(word for word in line if len(word) == 1) for line in lines]

    def planned(self) -> Any:
        return sorted(self.manager.planned_versions())

    def test_one_transaction(self):
        """dnf resolves it once, and says once what the packages need and bring."""
        outcomes = self.run_items("a", "b", "c")
        self.assertEqual(self.simulated(), ["a b c"])
        self.assertEqual(self.commands.count("dnf -q"), 2)
        self.assertEqual([outcome.changed for outcome in outcomes], [True] * 3)
        self.assertEqual([[c.what for c in o.changes] for o in outcomes], [["ensure"]] * 3)
        self.assertEqual(self.planned(), ["a", "b", "c", "libb"])

    def test_one_download(self):
        """The first package has dnf download all of them; if that fails, each is alone."""
        self.run_items("a", "b", "c")
        self.assertEqual(self.downloaded(), ["abc", "a", "b", "c"])

    def test_a_name_with_an_architecture(self):
        """It is planned under both names, and the next packages still know what it brings."""
        self.run_items("a.noarch", "b", "c")
        self.assertEqual(self.simulated(), ["a.noarch b c"])
        self.assertEqual(self.planned(), ["a", "a.noarch", "b", "c", "libb"])

    def test_packages_that_are_planned(self):
        """They are part of the transaction, but no changes of it."""
        options = {"properties": {"install_recommends": False}}
        both = table(Installing=["a", "b", "c"], Installing_dependencies=["libb"])
        self.resolved(table(Installing=["a"]), both)
        self.commands.on(INDEXED, described("a"), described("b", "c", "libb"))
        self.run_items("a", "b", "c", a=options)
        self.assertEqual(self.simulated(), ["a", "b c a"])
        self.assertEqual(self.planned(), ["a", "b", "c", "libb"])

    def test_an_installed_package(self):
        """Its upgrade is not part of it: the packages before it are, and those after it."""
        self.commands.on("rpm -q", "b\t0\t0\t1\tnoarch\n")
        upgrade = table(Installing=["a", "c"], Upgrading=["b"])
        self.resolved(table(Installing=["a", "c"]), upgrade, table(Installing=["d"]))
        self.commands.on(INDEXED, described("a", "c", c=("", "", "", "")))
        self.run_items("a", "c", "b", "d", b={"properties": {"ensure": "latest"}})
        self.assertEqual(self.simulated()[:2], ["a c", "b a c"])

    def test_a_package_that_an_earlier_one_brings(self):
        """The transaction ends before it, as that of a push."""
        first = table(Installing=["a", "b", "c", "d"])
        self.resolved(first, table(Installing=["a", "b"]), table(Installing=["a", "b", "c", "d"]))
        needing = described("a", "b", "c", "d", b=("c", "", "", ""), d=("", "", "", ""))
        self.commands.on(INDEXED, needing)
        self.run_items("a", "b", "c", "d")
        self.assertEqual(self.simulated()[:2], ["a b c d", "a b"])

    def test_what_is_simulated_alone(self):
        """A transaction that fails, is interrupted, changes other packages or brings some for an
        unclear reason."""
        both = table(Installing=["a", "b"])
        rows: List[Any] = [
            (Result(1, "", "Error: nothing provides it"), ""),
            (Result(-9, both, ""), ""),
            (Result(1, table(Installing=["a", "b"], Upgrading=["libb"]) + ABORTED, ""), ""),
            (Result(1, table(Installing=["a", "d"]) + ABORTED, ""), ""),
            (Result(1, both + ABORTED, ""), described("a")),
            (Result(1, both + ABORTED, ""), Result(1, "", "Error: no lists")),
            (Result(1, table(Installing=["a", "b", "c"]) + ABORTED, ""), described("a", "b", "c")),
        ]
        for together, about in rows:
            self.setUp()
            alone = [Result(1, each + ABORTED, "") for each in (table(Installing=["a"]), both)]
            self.commands.on("dnf install --assumeno", together, *alone)
            self.commands.on(INDEXED, *([about] if about else []), described("a", "b"))
            outcomes = self.run_items("a", "b")
            self.assertEqual(self.simulated(), ["a b", "a", "b a"], together)
            self.assertEqual([outcome.failed for outcome in outcomes], [False, False])

    def test_a_broken_package_is_simulated_together_once(self):
        """The later packages are not tried together again."""
        self.resolved("", *(table(Installing=list("abc"[: n + 1])) for n in range(3)))
        self.commands.on(INDEXED, described("a", "b", "c"))
        self.run_items("a", "b", "c")
        self.assertEqual(self.simulated(), ["a b c", "a", "b a", "c a b"])


class Needs(unittest.TestCase):
    def test_dependencies_with_several_words(self):
        """Each word counts, with its own parentheses; operators and versions name no package."""
        row = ("((perl(Foo) >= 1 if x) or y)\nlib.so.1()(64bit)", "", "", "")
        others = {
            "foo": ("", "", "perl(Foo) = 2", ""),
            "lib": ("", "", "lib.so.1()(64bit)", ""),
            "y": ("", "", "y = 1", ""),
        }
        found = new_packages.needs(described("a", "foo", "lib", "y", a=row, **others))
        self.assertEqual(found, {"a": ["foo", "y", "lib"], "foo": [], "lib": [], "y": []})

    def test_a_file(self):
        """A path is needed from the package that contains it."""
        found = new_packages.needs(described("a", "libb", a=("/usr/share/libb", "", "", "")))
        self.assertEqual(found, {"a": ["libb"], "libb": []})


if __name__ == "__main__":
    unittest.main()
