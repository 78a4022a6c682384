"""Password hashes for /etc/shadow (controller).

The salt depends only on the host and a name: it must be the same on every run, and must not reveal
the password.
"""

import hashlib
import re
from functools import lru_cache
from typing import Any

from jinja2 import pass_context

from orchestrator.language import cost_limits, value_types
from orchestrator.language.filters.encoding import secrets_of
from orchestrator.language.filters.registry import documented

_ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BCRYPT_ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_ROUNDS = 5000  # what crypt(3) takes where the hash names none
_MAX_ROUNDS = 200_000
_BCRYPT_ROUNDS = 10
_MAX_BCRYPT_ROUNDS = 13
_STEPS = 1000  # of a template, for each 5000 rounds
_MAX_LENGTH = 512


@documented(
    "Encoding",
    "password_hash([hashtype, salt, rounds, name])",
    example="'secret' | password_hash(salt='saltstring')",
    result="'$6$saltstring$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLog"
    "dTET5Ukw9Sf7eZTITsuk0Ry5qulYz.'",
)
@pass_context
def password_hash(
    context: Any,
    password: Any,
    hashtype: Any = "sha512",
    salt: Any = "",
    **options: Any,
) -> str:
    """A password hash for /etc/shadow: `sha512` or `bcrypt`. The salt depends on the host and on
    `name` unless it is set, so set a name for each account.
    """
    rounds, name = options.pop("rounds", None), options.pop("name", "")
    value_types.texts("password_hash", password, hashtype, salt, name)
    if options:
        raise ValueError(
            f"password_hash has no option {min(options)!r}, only salt, rounds and name"
        )
    if len(password) > _MAX_LENGTH:
        raise ValueError(f"password_hash takes passwords of at most {_MAX_LENGTH} characters")
    if hashtype not in ("sha512", "bcrypt"):
        raise ValueError(f"password_hash supports sha512 and bcrypt, not {hashtype!r}")
    host, secrets_read = context.get("Host"), secrets_of(context)
    if host is None or secrets_read is None:
        raise ValueError("password_hash needs the values of the host: import with context")
    seed = hashlib.sha512(f"ccm\0{host['name']}\0{name}".encode("utf-8", "surrogatepass")).digest()
    make = _sha512 if hashtype == "sha512" else _bcrypt
    found = make(password, salt, seed, rounds)
    secrets_read[found] = None
    return found


def _sha512(password: str, salt: str, seed: bytes, rounds: Any) -> str:
    count = _ROUNDS if rounds is None else value_types.whole("password_hash", rounds)
    if not 1000 <= count <= _MAX_ROUNDS:
        raise ValueError(f"sha512 takes 1000 to {_MAX_ROUNDS} rounds, not {count}")
    chosen = salt or "".join(_ALPHABET[byte & 63] for byte in seed[:16])
    if not re.fullmatch(r"[./0-9A-Za-z]{1,16}", chosen):
        raise ValueError("sha512 takes a salt of 1 to 16 letters, digits, dots and slashes")
    cost_limits.spend(_STEPS * count // _ROUNDS)
    return sha512_crypt(password, chosen, count)


def _bcrypt(password: str, salt: str, seed: bytes, rounds: Any) -> str:
    try:
        import bcrypt
    except ImportError as error:
        raise ValueError("bcrypt is not available here; use sha512") from error
    cost = _BCRYPT_ROUNDS if rounds is None else value_types.whole("password_hash", rounds)
    if not 4 <= cost <= _MAX_BCRYPT_ROUNDS:
        raise ValueError(f"bcrypt takes 4 to {_MAX_BCRYPT_ROUNDS} rounds, not {cost}")
    # the last sign has two bits only
    derived = "".join(_BCRYPT_ALPHABET[byte & 63] for byte in seed[:21]) + "."
    chosen = salt or derived
    if not re.fullmatch(r"[./0-9A-Za-z]{21}[.Oeu]", chosen):
        raise ValueError("bcrypt takes a salt of 22 letters, digits, dots and slashes")
    if len(password.encode()) > 72:
        raise ValueError("bcrypt takes passwords of at most 72 bytes; use sha512")
    cost_limits.spend(_STEPS << max(0, cost - 8))
    return _bcrypt_of(bcrypt, password, f"$2b${cost:02}${chosen}")


@lru_cache(maxsize=4096)
def _bcrypt_of(bcrypt: Any, password: str, settings: str) -> str:
    return str(bcrypt.hashpw(password.encode(), settings.encode()).decode("ascii"))


@lru_cache(maxsize=4096)
def sha512_crypt(password: str, salt: str, rounds: int) -> str:
    """The hash in the format of crypt(3), with ``rounds`` unless they are the default."""
    key, seasoning = password.encode(), salt.encode()
    second = hashlib.sha512(key + seasoning + key).digest()
    first = hashlib.sha512(key + seasoning)
    first.update(_filled(second, len(key)))
    bits = len(key)
    while bits:
        first.update(second if bits & 1 else key)
        bits >>= 1
    found = first.digest()
    keys = _filled(hashlib.sha512(key * len(key)).digest(), len(key))
    salts = _filled(hashlib.sha512(seasoning * (16 + found[0])).digest(), len(seasoning))
    for turn in range(rounds):
        parts = [keys if turn & 1 else found]
        if turn % 3:
            parts.append(salts)
        if turn % 7:
            parts.append(keys)
        parts.append(found if turn & 1 else keys)
        found = hashlib.sha512(b"".join(parts)).digest()
    named = "" if rounds == _ROUNDS else f"rounds={rounds}$"
    return f"$6${named}{salt}${_encoded(found)}"


def _filled(block: bytes, length: int) -> bytes:
    return (block * (length // len(block) + 1))[:length]


def _encoded(digest: bytes) -> str:
    """Encode three bytes at a time in the order of crypt(3), lowest bits first."""
    signs = []
    one, two, three = 0, 21, 42
    for _ in range(21):
        signs.append(_group(digest[one] << 16 | digest[two] << 8 | digest[three], 4))
        one, two, three = two + 1, three + 1, one + 1
    return "".join([*signs, _group(digest[63], 2)])


def _group(bits: int, count: int) -> str:
    return "".join(_ALPHABET[bits >> 6 * at & 63] for at in range(count))
