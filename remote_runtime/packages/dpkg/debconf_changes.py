"""Detects whether the scripts of a Debian package change debconf answers (target)."""

import re
from typing import Mapping, Optional, Sequence

_SCRIPTS = ("config", "preinst", "postinst")
_SETS = re.compile(r"\bdb_(?:set|reset|unregister|purge|clear)\b[ \t]*[\"']?([^\s\"';|&]*)")
_OTHERS = re.compile(
    r"debconf-set-selections|debconf-communicate|Debconf::Client|\bimport debconf\b"
)


def answer_uncertainty(
    name: str, scripts: Optional[Mapping[str, str]], questions: Sequence[str]
) -> str:
    """Return the reason why an answer may differ after the package is configured, or "".

    ``scripts`` are those of the package, by name; None if they are unknown.
    """
    if scripts is None:
        return "the scripts of %s are not known and may change its answers" % name
    for script in _SCRIPTS:
        text = scripts.get(script, "")
        if _OTHERS.search(text):
            return "the script %s of %s may change answers" % (script, name)
        for match in _SETS.finditer(text):
            word = match.group(1)
            if word in questions or not word or "$" in word or "`" in word:
                return "the script %s of %s may change its answers (%s)" % (
                    script,
                    name,
                    match.group().strip(),
                )
    return ""
