import random
from pathlib import Path

from tests.hostile import secrets


def test_no_sink_shows_a_secret() -> None:
    """Whatever way a secret comes in and whatever form it takes, no sink of any command has it."""
    found = secrets.run(seconds=0, seed=5)
    assert found.broken == []
    assert found.tried["sinks searched"] > 100


def test_the_scanner_finds_every_form(tmp_path: Path) -> None:
    """The scanner would notice each secret of a round in each of its forms."""
    one = secrets.Round(tmp_path, random.Random(5))
    for name, secret in one.secrets.items():
        for form in secrets.spellings(secret):
            assert secrets.leaks({name: secret}, {"log": b"<" + form + b">"})
    assert secrets.leaks(one.secrets, {"log": b"nothing"}) == []
