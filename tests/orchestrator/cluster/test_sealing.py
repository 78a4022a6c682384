"""What goes through the scheduler can be read and made by the two sides only."""

import pytest

from orchestrator.cluster.sealing import Box, KeyPair, SealError, open_content, seal_content


def both(run_id: str = "run") -> tuple[Box, Box]:
    """The boxes of a controller and of a worker."""
    controller, worker = KeyPair(), KeyPair()
    return (
        controller.box(worker.public, run_id, leads=True),
        worker.box(controller.public, run_id, leads=False),
    )


def test_either_side_opens_what_the_other_has_sealed() -> None:
    """In their order, in both directions."""
    controller, worker = both()
    for number in range(3):
        data = b"do %d" % number
        sealed = controller.seal(data)
        assert data not in sealed
        assert worker.open(sealed) == data
        assert controller.open(worker.seal(b"done")) == b"done"


def test_a_message_that_was_tampered_with_is_refused() -> None:
    """Changed, repeated, left out, sent back, or of another run."""
    controller, worker = both()
    first, second = controller.seal(b"first"), controller.seal(b"second")
    with pytest.raises(SealError):
        worker.open(second)
    with pytest.raises(SealError):
        worker.open(first[:-1] + bytes([first[-1] ^ 1]))
    assert worker.open(first) == b"first"
    with pytest.raises(SealError):
        worker.open(first)
    with pytest.raises(SealError):
        controller.open(second)


def test_a_run_has_keys_of_its_own() -> None:
    """The same key pairs seal differently for another run."""
    controller, worker = KeyPair(), KeyPair()
    sealed = controller.box(worker.public, "one", leads=True).seal(b"text")
    with pytest.raises(SealError):
        worker.box(controller.public, "two", leads=False).open(sealed)


def test_what_is_no_public_key_is_refused() -> None:
    """Of a wrong length, or one that leads to no secret."""
    for public in (b"", b"x" * 31, bytes(32)):
        with pytest.raises(SealError):
            KeyPair().box(public, "run", leads=True)


def test_content_is_sealed_alike_each_time_and_opens_with_its_key_only() -> None:
    """So that it can be kept by its hash by whoever may not read it."""
    key, sealed = seal_content(b"content " * 100)
    assert seal_content(b"content " * 100) == (key, sealed)
    assert b"content" not in sealed
    assert open_content(key, sealed) == b"content " * 100
    with pytest.raises(SealError):
        open_content(bytes(32), sealed)
    with pytest.raises(SealError):
        open_content(key, sealed[:-1])
