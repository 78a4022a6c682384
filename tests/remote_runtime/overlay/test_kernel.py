import os
from typing import List
from unittest import mock

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Effect, KernelEffect, UnknownEffect, everything
from remote_runtime.host.host_reader import reader
from remote_runtime.system.kernel import parameters
from remote_runtime.uncertainty import ASSUMED, Uncertainty
from tests.remote_runtime.fakes import DirectoryTest, context, failure_of


class OverlayKernelTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("x", b"1\n")
        patch = mock.patch.object(parameters, "PROC", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        self.context = context(noop=True)

    def test_a_planned_value(self) -> None:
        """It counts for the kernel, and what its file holds is not known."""
        world = self.context.overlay_with([KernelEffect(self.path("x"), "2", by="sysctl#x")])
        self.assertEqual(world.kernel.value("x"), "2")
        self.assertEqual(self.context.uncertainties, 0)
        self.assertEqual(world.fork().kernel.value("x"), "2")
        self.assertEqual(reader(world).files.read(self.path("x")), b"1\n")
        self.assertEqual(self.context.uncertainty.level, "unknown")
        self.assertIn(self.path("x"), world._beyond_files())

    def test_what_is_not_known(self) -> None:
        """One that another parameter changes has no value yet; one that goes has none at all."""
        world = self.context.overlay_with([KernelEffect(self.path("x"), by="sysctl#y")])
        error = failure_of(world.kernel.value, "x")
        self.assertIsInstance(error, Unknowable)
        self.assertIn("is not known until sysctl#y", str(error))
        world = self.context.overlay_with([KernelEffect(self.path("x"), present=False)])
        self.assertIsNone(world.kernel.value("x"))

    def test_a_command_may_change_it(self) -> None:
        """What runs later may set it again."""
        uncertainty = Uncertainty(ASSUMED, "exec#x may change the host first")
        effects: List[Effect] = [
            KernelEffect(self.path("x"), "2"),
            UnknownEffect(uncertainty, everything),
        ]
        world = self.context.overlay_with(effects)
        self.assertEqual(world.kernel.value("x"), "2")
        self.assertEqual(self.context.uncertainty, uncertainty)

    def test_nothing_is_set(self) -> None:
        """A preview has no way to the kernel."""
        world = self.context.overlay_with([])
        with self.assertRaises(NotImplementedError):
            world.kernel.set_value("x", "2")
        world.kernel.require_settable("not there")
        with mock.patch("os.access", return_value=False):
            self.assertIn("cannot be set", str(failure_of(world.kernel.require_settable, "x")))
        self.assertEqual(os.listdir(self.root), ["x"])
