"""The locale in which maintainer scripts run: the host's own (target).

PostgreSQL's scripts, for example, create their first cluster in this locale. Only messages are in
English, because they are parsed.
"""

from typing import TYPE_CHECKING, Dict

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

FILES = ("/etc/default/locale", "/etc/locale.conf")
_LIMIT = 1 << 14  # bytes of one of them
_CATEGORIES = ("LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY")
_NAMES = ("LANG", "LC_ALL", *_CATEGORIES)


def environment(files: "Files") -> Dict[str, str]:
    """Return the variables for a package manager's transaction; an empty variable counts
    as unset.
    """
    variables: Dict[str, str] = {}
    for path in FILES:
        if not variables and files.exists(path) and not files.is_directory(path):
            variables = _settings(files.read(path, _LIMIT, follow=True).decode("utf-8", "replace"))
    everything = variables.pop("LC_ALL", "")
    if everything:  # it would have messages in it as well
        variables = dict.fromkeys(("LANG", *_CATEGORIES), everything)
    return {"LANG": "C", **variables, "LC_ALL": "", "LANGUAGE": "", "LC_MESSAGES": "C"}


def _settings(text: str) -> Dict[str, str]:
    settings: Dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        value = value.strip().strip("\"'")
        if equals and name in _NAMES and value:
            settings[name] = value
    return settings
