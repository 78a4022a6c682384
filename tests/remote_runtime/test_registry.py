import json
import unittest
from typing import Any, List
from unittest import mock

from remote_runtime import registry
from remote_runtime.effects import PathEffect, UnknownEffect, everything
from remote_runtime.packages.managers.dnf import Dnf
from remote_runtime.registry import Registry
from remote_runtime.uncertainty import ASSUMED, Uncertainty
from tests.remote_runtime.fakes import context, failure_of, item


class RegistryTest(unittest.TestCase):
    def test_types(self) -> None:
        """Every directory of a type is found, with a schema that is JSON and closed."""
        found = registry.types()
        self.assertTrue({"file", "exec"} <= set(found))
        for name in ("file", "exec"):
            schema = json.loads(registry.schema_text(name).decode("utf-8"))
            self.assertIs(schema["additionalProperties"], False)
            self.assertTrue(all("description" in p for p in schema["properties"].values()))

    def test_priority(self) -> None:
        """Without an explicit provider the smallest priority number wins."""
        self.assertEqual(Registry(context()).create(item("exec", "true")).provider.name, "posix")
        chosen = Registry(context())
        chosen._instance("exec", "posix").priority = 100
        self.assertEqual(chosen.create(item("exec", "true")).provider.name, "shell")

    def test_the_first_needs_no_others(self) -> None:
        """A provider with priority 1 is taken without a look at the ones after it."""
        chosen = Registry(context())
        chosen.choose(item("exec", "true"), {})
        self.assertEqual(list(chosen._instances), [("exec", "posix")])

    def test_explicit(self) -> None:
        """An explicit provider is taken, one that does not exist is refused with those that do."""
        chosen = Registry(context())
        self.assertEqual(chosen.create(item("exec", "x", provider="shell")).provider.name, "shell")
        error = failure_of(chosen.create, item("exec", "x", provider="zsh"))
        self.assertIn("posix, shell", str(error))

    def test_supposed(self) -> None:
        """Whether it can manage the host or not, the first is supposed, or the one named."""
        chosen = Registry(context())
        for name in ("posix", "shell"):
            provider: Any = chosen._instance("exec", name)
            provider.unsupported_reason = lambda properties: "not here"
        self.assertEqual(failure_of(chosen.create, item("exec", "x")).kind, "resource.provider")
        self.assertEqual(chosen.suppose(item("exec", "x")).provider.name, "posix")
        named = item("exec", "x", provider="shell")
        self.assertEqual(chosen.suppose(named).provider.name, "shell")

    def test_a_tool_that_is_to_come(self) -> None:
        """In a preview what is planned may bring a provider's programs, or a command may."""
        tool = PathEffect("/usr/bin/ccm-tool", "file", 0o755, 0, 0)
        other = PathEffect("/usr/bin/ccm-other", "file", 0o755, 0, 0)
        fog = UnknownEffect(Uncertainty(ASSUMED, "exec#x may bring it"), everything)
        wanted = item("package", "x", provider="dnf")
        for effect, kind, level in (
            (tool, "resource.unknowable", ""),
            (other, "resource.provider", ""),
            (fog, "resource.provider", ASSUMED),
        ):
            ctx = context(noop=True)
            ctx.expect([effect], Uncertainty(), "t#a")
            with mock.patch.object(Dnf, "programs", ("ccm-tool",)), ctx.for_resource(wanted, True):
                self.assertEqual(failure_of(Registry(ctx).create, wanted).kind, kind)
                self.assertEqual(ctx.uncertainty.level, level)

    def test_unknown_type(self) -> None:
        """An unknown type, or a name that is no name, is an error of the resource."""
        for name in ("nosuch", "file.providers", "../file"):
            error = failure_of(Registry(context()).create, item(name, "x"))
            self.assertEqual(error.kind, "resource.type")

    def test_prepared_once(self) -> None:
        """A provider is told once all items that it may get."""
        items = [item("exec", "a"), item("exec", "b", provider="shell"), item("exec", "c")]
        chosen = Registry(context(items))
        told: List[Any] = []
        provider: Any = chosen.choose(items[0], {})
        provider.prepare = told.append
        for entry in (items[0], items[2]):
            chosen.create(entry)
        self.assertEqual([[i.name for i in batch] for batch in told], [["a", "c"]])
