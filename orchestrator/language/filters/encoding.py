"""Base64 and hashes (controller).

A value derived from a secret is secret, because a hash can be guessed.
"""

import base64
import binascii
import hashlib
from functools import partial
from typing import Any

from jinja2 import pass_context

from orchestrator.language import hash_record, value_types
from orchestrator.language.filters.registry import documented

_documented = partial(documented, "Encoding")
_HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b")


@_documented("b64encode()", example="'ccm' | b64encode", result="'Y2Nt'")
def b64encode(text: Any) -> str:
    """Base64 of the text in UTF-8."""
    value_types.texts("b64encode", text)
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


@_documented("b64decode()", example="'Y2Nt' | b64decode", result="'ccm'")
def b64decode(text: Any) -> str:
    """The decoded text.

    ValueError if it is invalid, or not UTF-8.
    """
    value_types.texts("b64decode", text)
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError("b64decode takes the Base64 form of UTF-8 text") from error


@_documented(
    "hash([hashtype])",
    example="'ccm' | hash('md5')",
    result="'b42f1990c0cee8758b64584877d69b93'",
    meaning="A hash in hex: " + ", ".join(f"`{n}`" for n in _HASHES) + "; default: `sha1`",
)
@pass_context
def hash_(context: Any, text: Any, hashtype: Any = "sha1") -> str:
    """Return the hash of a string."""
    value_types.texts("hash", text)
    if hashtype not in _HASHES:
        raise ValueError(f"hash takes one of {', '.join(_HASHES)}, not {hashtype!r}")
    new = hashlib.new(hashtype, usedforsecurity=False)
    new.update(text.encode("utf-8", "surrogatepass"))
    found = new.hexdigest()
    secrets_read = secrets_of(context)
    if secrets_read is not None and any(secret in text for secret in list(secrets_read)):
        secrets_read[found] = None
    hash_record.note(text, found)
    return found


def secrets_of(context: Any) -> Any:
    """Return the store of strings to mask on this host; None without a host."""
    secrets_read = getattr(context.get("Environ"), "secrets_read", None)
    return hash_record.secret_texts() if secrets_read is None else secrets_read
