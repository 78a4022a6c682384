"""The keys that would contain a password, which is not allowed in an inventory (controller)."""

import functools
import re

HINT = (
    "remove it from the file: ccm prompts for it (--ask-pass, --ask-become-pass), or reads "
    "it from the environment or a command"
)

_PROPERTY = r"(^|_)(pass|passwd|password|passphrase)$"
_VARIABLE = (
    r"^((ansible_)?(ssh|become|sudo|su|login|enable|key)_(pass|passwd|password|passphrase)"
    r"|(ansible_)?(pass|passwd|password|passphrase)"
    r"|ansible_\w*_(pass|passwd|password|passphrase))$"
)


@functools.lru_cache(maxsize=1024)
def is_password_property(key: str) -> bool:
    """Whether a key next to the connection properties would contain a password."""
    return re.search(_PROPERTY, key, re.IGNORECASE) is not None


@functools.lru_cache(maxsize=1024)
def is_password_variable(key: str) -> bool:
    """Whether a variable would contain a login password; ``db_password`` is data of the site."""
    return re.match(_VARIABLE, key, re.IGNORECASE) is not None
