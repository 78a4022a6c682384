"""The sources of apt in a preview."""

import os
import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.content import Content
from remote_runtime.effects import PathEffect
from remote_runtime.packages.apt import sources as apt_sources
from remote_runtime.uncertainty import Uncertainty

from .. import fakes


class Text(Content):
    """A planned text; None for one that only the push has."""

    def __init__(self, text):
        self.text, self.size = text, len(text or "?")

    def chunks(self):
        if self.text is None:
            raise Unknowable("it is in a package still")
        yield self.text


class Sources(fakes.DirectoryTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("apt/sources.list.d"))
        os.makedirs(self.path("apt/keys"))
        os.makedirs(self.path("work"))
        for name in ("sources.list", "sources.list.d/a.list", "sources.list.d/b.list", "keys/k"):
            self.write("apt/" + name, name.encode())
        self.context = fakes.context(noop=True)

    def laid_out(self, *effects):
        self.context.expect(effects, Uncertainty(), "file#x")
        planned = [effect.path for effect in effects]
        place = self.path("work/etc")
        settings = apt_sources.write_planned(self.context.files, planned, place, self.path("apt"))
        with open(settings) as file:
            self.assertEqual(file.read(), 'Dir::Etc "%s/";\n' % place)
        return place

    def test_what_is_planned_is_copied_and_the_rest_linked(self):
        """A list comes, another goes; what nobody touches is the host's own."""
        place = self.laid_out(
            PathEffect(self.path("apt/sources.list.d/new.list"), "file", 0o644, 0, 0, Text(b"n")),
            PathEffect(self.path("apt/sources.list.d/a.list"), "absent"),
        )
        self.assertEqual(sorted(os.listdir(place)), ["keys", "sources.list", "sources.list.d"])
        self.assertEqual(os.readlink(place + "/keys"), self.path("apt/keys"))
        self.assertEqual(os.listdir(self.path("apt/sources.list.d")).count("new.list"), 0)
        found = {}
        for name in os.listdir(place + "/sources.list.d"):
            with open(os.path.join(place, "sources.list.d", name)) as file:
                found[name] = file.read()
        self.assertEqual(found, {"b.list": "sources.list.d/b.list", "new.list": "n"})

    def test_a_list_that_only_the_push_has(self):
        """Then nobody can tell what apt would say."""
        path = self.path("apt/sources.list")
        with self.assertRaises(Unknowable):
            self.laid_out(PathEffect(path, "file", 0o644, 0, 0, Text(None)))


if __name__ == "__main__":
    unittest.main()
