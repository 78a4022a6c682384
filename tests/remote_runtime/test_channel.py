"""The runtime's end of the channel, without a runtime around it."""

import os
import socket
import threading
import unittest

from remote_runtime.cancellation import Cancellation
from remote_runtime.channel import Channel


class ChannelTest(unittest.TestCase):
    def test_reset(self) -> None:
        """A connection that is reset ends the run as one that is closed does."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        cancellation = Cancellation()
        stuck = threading.Event()
        channel = Channel(
            ours.fileno(),
            os.dup(ours.fileno()),
            cancellation=cancellation,
            on_stuck=stuck.set,
            patience=0,
        )
        ours.send(b"the controller goes without reading this")
        theirs.close()
        channel.start()
        self.assertTrue(stuck.wait(10))
        self.assertIn("connection to the controller was lost", cancellation.reason)

    def test_defect_while_reading(self) -> None:
        """Whatever ends the reading thread ends the run, so that nothing is left to run alone."""
        reading, writing = os.pipe()
        for descriptor in (reading, writing):
            self.addCleanup(os.close, descriptor)
        cancellation = Cancellation()
        stuck = threading.Event()
        channel = Channel(-1, writing, cancellation=cancellation, on_stuck=stuck.set, patience=0)
        channel.start()
        self.assertTrue(stuck.wait(10))
        self.assertTrue(cancellation.is_set())
