"""Messages between a controller and a worker."""

import socket
import threading

import pytest

from orchestrator.workers.channel import Channel


def pair() -> tuple[Channel, Channel]:
    """Both ends."""
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)


def test_messages_come_whole_and_in_order() -> None:
    """However the bytes arrive, each text is one message, also a long one and one that is not
    ASCII."""
    ours, theirs = pair()
    said = ["a", "é\t\n", "x" * 1_000_000, '["close"]']

    def say() -> None:
        for text in said:
            ours.send(text)

    thread = threading.Thread(target=say)
    thread.start()
    assert [theirs.receive() for _ in said] == said
    thread.join()


def test_silence_is_no_message() -> None:
    """Nothing within the time is None, and what comes later is not lost."""
    ours, theirs = pair()
    assert theirs.receive(0.01) is None
    ours.send("late")
    assert theirs.receive(60) == "late"


def test_the_end_is_told_apart_from_silence() -> None:
    """Once the other side has hung up what it said is there still, and then the end."""
    ours, theirs = pair()
    ours.send("last")
    ours.close()
    assert theirs.receive() == "last"
    with pytest.raises(EOFError):
        theirs.receive()
    with pytest.raises(BrokenPipeError):
        theirs.send("to nobody")


def test_a_message_that_is_too_large_is_not_read() -> None:
    """Its length is enough to refuse it: nothing of it is held."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours, maximum=10)
    theirs.sendall(b"\0\0\0\x0axxxxxxxxxx\0\0\0\x0b")
    assert channel.receive() == "x" * 10
    with pytest.raises(ValueError, match=r"a message of 11 bytes is too large \(limit 10\)"):
        channel.receive()
