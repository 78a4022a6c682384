"""Hashes of passwords."""

import bcrypt
import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.language.filters.passwords import sha512_crypt
from tests.orchestrator.expressions.fakes import evaluate

WEB2 = {"name": "web2", "address": "192.0.2.2", "groups": [], "vars": {}}


@pytest.mark.parametrize(
    ("password", "salt", "rounds", "end"),
    [
        (
            "Hello world!",
            "saltstring",
            5000,
            "svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
        ),
        (
            "Hello world!",
            "saltstringsaltst",
            10000,
            "OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.",
        ),
        (
            "we have a short salt string but not a short password",
            "short",
            77777,
            "WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0",
        ),
    ],
)
def test_sha512_is_that_of_crypt(password: str, salt: str, rounds: int, end: str) -> None:
    """The examples of its specification."""
    assert sha512_crypt(password, salt, rounds).endswith("$" + end)


def test_the_salt_is_stable_for_a_host_and_a_name() -> None:
    """The same on every run, another for another host, name or algorithm; never of the password."""
    first = evaluate("'pw' | password_hash")
    assert first == evaluate("'pw' | password_hash('sha512')")
    assert first.split("$")[2] == evaluate("'other' | password_hash").split("$")[2]
    others = {
        evaluate("'pw' | password_hash", host=WEB2),
        evaluate("'pw' | password_hash(name='x')"),
    }
    assert len({first, *others}) == 3


def test_bcrypt_is_that_of_the_platform() -> None:
    """The hash is checked with the password."""
    found = evaluate("'pw' | password_hash('bcrypt', rounds=4)")
    assert found.startswith("$2b$04$")
    assert bcrypt.checkpw(b"pw", found.encode())


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("('md5')", "supports sha512 and bcrypt"),
        ("(salt='a b')", "a salt of 1 to 16"),
        ("(rounds=10 ** 9)", "takes 1000 to"),
        ("('bcrypt', rounds=31)", "takes 4 to"),
        ("('bcrypt', 'x')", "a salt of 22"),
        ("(seed=1)", "has no option 'seed'"),
    ],
)
def test_mistakes(call: str, told: str) -> None:
    """A mistake says what was expected, and what would take long is refused."""
    with pytest.raises(EvaluationError, match=told):
        evaluate(f"'pw' | password_hash{call}")
