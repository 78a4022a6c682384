"""Commands of a rollout, as people write them."""

import pytest

from orchestrator.rollout.commands import parse_command


def test_an_empty_command_is_none() -> None:
    """It would let everything through."""
    assert parse_command("./drain.sh --now") == "./drain.sh --now"
    for text in ("", " ", "\n"):
        with pytest.raises(ValueError, match="the command is empty"):
            parse_command(text)
