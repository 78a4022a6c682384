"""The runtime's end of the channel, without a runtime around it."""

import gc
import os
import socket
import threading
import time
import unittest
from typing import Any, List
from unittest import mock

from remote_runtime.cancellation import Cancellation
from remote_runtime.protocol import wire
from remote_runtime.protocol.channel import Channel
from remote_runtime.protocol.unchanged_batch import MAX_ROWS, UnchangedEvent, Unplanned
from tests.texts import expect_text


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
        expect_text(cancellation.reason, self)

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

    def end(self, channel: Channel, cancellation: Cancellation) -> None:
        """Its threads use descriptors whose numbers somebody else will have."""
        cancellation.set("the test is over")
        channel.close()
        for thread in channel._threads:
            self.assertTrue(thread.join(60))

    def opened(self, **options: Any) -> Any:
        """A channel, and a function that gives the next frame that it wrote."""
        reading, writing = os.pipe()
        ours, theirs = os.pipe()
        for descriptor in (reading, writing, ours, theirs):
            self.addCleanup(os.close, descriptor)
        cancellation = Cancellation()
        channel = Channel(
            ours, writing, cancellation=cancellation, on_stuck=lambda: None, **options
        )
        self.addCleanup(self.end, channel, cancellation)
        channel.start()
        decoder = wire.Decoder(wire.MAX_FROM_TARGET)
        frames: List[wire.Frame] = []

        def following() -> Any:
            while not frames:
                frames.extend(decoder.feed(os.read(reading, 1 << 16)))
            return frames.pop(0)

        return channel, following

    def test_what_keeps_a_write_back(self) -> None:
        """The controller hears that the host is there meanwhile, and what is to go in front."""
        going = threading.Event()

        def before(beat: Any) -> bytes:
            beat()
            going.wait(60)
            return wire.encode({"t": "notice", "text": "slow"})

        channel, following = self.opened(before_write=before)
        channel.send({"t": "event", "seq": 1}, now=True)
        self.assertEqual(following()["t"], "ping")
        going.set()
        self.assertEqual([following()["t"], following()["t"]], ["notice", "event"])

    def test_the_end_waits_for_what_keeps_it_back(self) -> None:
        """The last seconds are for the controller to read; a slow disk has its own."""
        begun = threading.Event()
        ended: List[bool] = []

        def before(beat: Any) -> bytes:
            begun.set()
            while not ended:
                time.sleep(0.01)
            return b""

        channel, following = self.opened(before_write=before)
        channel.send({"t": "done"}, now=True)
        self.assertTrue(begun.wait(60))
        with mock.patch("remote_runtime.protocol.channel._LAST_WRITE", 0.01):
            closing = threading.Thread(target=channel.close)
            closing.start()
            closing.join(0.2)
            self.assertTrue(closing.is_alive())
            ended.append(True)
            self.assertEqual(following()["t"], "done")
            closing.join(60)
        self.assertFalse(closing.is_alive())

    def test_the_controller_has_all_the_last_seconds(self) -> None:
        """They begin anew when nothing keeps the last write back any more."""
        joined = []  # type: Any
        channel = Channel(0, 1, cancellation=Cancellation(), on_stuck=lambda: None)

        def join(seconds: float) -> bool:
            joined.append(seconds)
            channel._in_before_write = len(joined) < 1
            return False

        channel._in_before_write = True
        with mock.patch.object(channel._threads[1], "join", join):
            channel.close()
        self.assertEqual(len(joined), 2)

    def unchanged(self, seq: int, index: int, noop: bool = False) -> UnchangedEvent:
        return UnchangedEvent(seq, seq, 1.0, 10, index, Unplanned("posix", None, None, noop, ""))

    def test_unchanged_resources_leave_by_themselves(self) -> None:
        """A turn does not wait for what comes behind it."""
        channel, following = self.opened()
        channel.send_unchanged(self.unchanged(1, 0))
        self.assertEqual((following()["seq"], channel.gathers), (1, False))

    def test_unchanged_resources_keep_their_place(self) -> None:
        """What was told before a message is sent before it, what comes behind it behind it."""
        channel, following = self.opened()
        for at in range(300):
            channel.send_unchanged(self.unchanged(at + 1, at))
        channel.send({"t": "event", "seq": 301})
        channel.send_unchanged(self.unchanged(302, 301))
        channel.send({"t": "done"}, now=True)
        told, kinds, maximum = 0, [], 0
        while "done" not in kinds:
            frame = following()
            kinds.append(frame["t"])
            if frame["t"] == "stable":
                self.assertEqual(frame["seq"], told + 1)
                count = len(frame["rows"])
                told, maximum = told + count, max(maximum, count)
            else:
                self.assertEqual(told, 300 if frame["t"] == "event" else 302)
                told += frame["t"] == "event"
        self.assertEqual(told, 302)
        self.assertLessEqual(maximum, MAX_ROWS)

    def test_a_preview_is_reported_apart(self) -> None:
        """A message says of all its resources whether they were previewed."""
        channel, following = self.opened()
        for seq in range(1, 5):
            channel.send_unchanged(self.unchanged(seq, seq, noop=seq > 2))
        channel.send({"t": "done"}, now=True)
        told: Any = []
        while len(told) < 4:
            frame = following()
            told += [(row[0], frame["noop"]) for row in frame["rows"]]
        self.assertEqual(told, [(1, False), (2, False), (3, True), (4, True)])


class DecoderTest(unittest.TestCase):
    def test_frames_are_not_held(self) -> None:
        """The facts of a host are large, and the frame behind them may be long in coming."""
        frames = wire.Decoder(wire.MAX_FROM_TARGET).feed(wire.encode({"t": "facts", "facts": {}}))
        facts = next(frames)
        self.assertNotIn(frames, gc.get_referrers(facts))
        self.assertEqual(list(frames), [])
