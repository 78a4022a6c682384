"""apt's sources: files of deb822 stanzas, and one-line lists (both sides)."""

import shlex
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

Stanza = Dict[str, str]

LISTS = {
    "types": "Types",
    "urls": "URIs",
    "suites": "Suites",
    "components": "Components",
    "architectures": "Architectures",
    "signed_by": "Signed-By",
}
"""The fields that are lists, by property."""
ENABLED, TRUSTED, NAME = "Enabled", "Trusted", "X-Repolib-Name"
OWN = {
    **{field.lower(): key for key, field in LISTS.items()},
    "enabled": "enabled",
    "trusted": "gpgcheck",
    "x-repolib-name": "description",
}
"""The property for each field, by the field's name in lowercase."""
_NO = ("no", "false", "without", "off", "disable", "0")
_YES = ("yes", "true", "with", "on", "enable", "1")


class Entry(NamedTuple):
    """One source that apt reads: a suite at an address; ``where`` is its location."""

    url: str
    suite: str
    signed_by: str
    where: str


def read(text: str) -> List[Stanza]:
    """Return the stanzas of a file, each with its fields as written. Comments are omitted."""
    stanzas: List[Stanza] = [{}]
    field = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if not line.strip():
            stanzas.append({})
            field = ""
        elif line[0] in " \t":
            if field:
                stanzas[-1][field] += "\n" + line.strip()
        else:
            field, _, value = line.partition(":")
            stanzas[-1][field] = value.strip()
    return [stanza for stanza in stanzas if stanza]


def written(stanza: Mapping[str, str]) -> str:
    """The text of a file with one stanza."""
    return "".join("%s: %s\n" % pair for pair in stanza.items())


def stanza_of(properties: Mapping[str, Any], signed_by: Sequence[str]) -> Stanza:
    """The stanza for the properties of a resource."""
    lists = {**properties, "types": properties.get("types") or ["deb"], "signed_by": signed_by}
    lists["urls"] = properties.get("urls") or [properties.get("url", "")]
    result: Stanza = {}
    if properties.get("description"):
        result[NAME] = str(properties["description"])
    if properties.get("enabled") is False:
        result[ENABLED] = "no"
    result.update(
        (field, " ".join(map(str, lists[key]))) for key, field in LISTS.items() if lists.get(key)
    )
    if properties.get("gpgcheck") is False:
        result[TRUSTED] = "yes"
    for key, value in sorted((properties.get("options") or {}).items()):
        result[key] = _shown(value)
    return result


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def state_of(stanza: Mapping[str, str]) -> Dict[str, Any]:
    """Return the state in a stanza, by property; it is equal for stanzas with the same meaning, and
    None if there is no state.
    """
    fields = {key.lower(): value for key, value in stanza.items()}
    state: Dict[str, Any] = {
        key: fields.get(field.lower(), "").split() or None for key, field in LISTS.items()
    }
    if "\n" in fields.get("signed-by", ""):
        state["signed_by"] = ["a key in the file"]
    state["urls"] = [url.rstrip("/") + "/" for url in state["urls"] or ()] or None
    state["enabled"] = fields.get("enabled", "yes").lower() not in _NO
    state["gpgcheck"] = fields.get("trusted", "no").lower() not in _YES
    state["description"] = fields.get("x-repolib-name")
    others = [(key, value) for key, value in fields.items() if key not in OWN]
    options = ["%s: %s" % (key, " ".join(value.split())) for key, value in sorted(others)]
    state["other_options"] = options or None
    return state


def entries(path: str, text: str) -> Iterator[Entry]:
    """Yield the sources in a file of either format; disabled ones are omitted."""
    if path.endswith(".sources"):
        for stanza in read(text):
            state = state_of(stanza)
            signed = " ".join(state["signed_by"] or ())
            if state["enabled"]:
                for url in state["urls"] or ():
                    for suite in state["suites"] or ():
                        yield Entry(url, suite, signed, path)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            url, suite, signed = _of_line(line)
            if suite:
                yield Entry(url.rstrip("/") + "/", suite, signed, "%s:%d" % (path, number))


def _of_line(line: str) -> Tuple[str, str, str]:
    """The address, suite and key in a line such as ``deb [signed-by=K] URL SUITE COMPONENT``."""
    rest = "".join(line.split(None, 1)[1:]).strip()  # a tab may follow the type
    signed = ""
    if rest.startswith("["):
        options, _, rest = rest[1:].partition("]")
        for option in options.split():
            key, _, value = option.partition("=")
            signed = value.replace(",", " ") if key.lower() == "signed-by" else signed
    try:
        words = shlex.split(rest.partition("#")[0])
    except ValueError:
        words = rest.split()
    return (words[0], words[1], signed) if len(words) > 1 else ("", "", "")
