"""Writes data as JSON or YAML, either completely or a single value (controller)."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orchestrator.cli.parser import OptionGroup, Parser
from orchestrator.support.plain_text import escaped, plain, value_text
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from yaml import SafeDumper


def add_form(parser: Parser) -> OptionGroup:
    """``--json`` and ``--yaml``; returns the group of all forms."""
    form = parser.add_exclusive_group()
    form.add_argument("--json", action="store_true", help="write JSON (the default)")
    form.add_argument("--yaml", action="store_true", help="write YAML instead of JSON")
    return form


def check_path(kind: str, path: str | None) -> None:
    """Refuse an invalid path; UsageError."""
    at_path(kind, {}, path)


def at_path(kind: str, tree: dict[str, Any], path: str | None) -> tuple[bool, Any]:
    """Whether there is a value at a GJSON path, and the value.

    ``kind`` is the word that the path may begin with, as in lookup(): facts or data. UsageError.
    """
    if path is None:
        return True, tree
    from orchestrator.language.lookup_paths import MISSING, BadPathError, find, split_path

    try:
        _, rest, parts = split_path(f"{kind}." + path.removeprefix(f"{kind}."))
        value = find(tree, rest, parts)
    except BadPathError as error:
        raise UsageError(str(error), hint="write a path such as a.b, a.0 or a.#") from error
    return (False, None) if value is MISSING else (True, value)


def write(document: Any, as_yaml: bool) -> None:
    """Write one document to standard output."""
    if as_yaml:
        import yaml

        text = yaml_text(document, yaml.SafeDumper)
        sys.stdout.write(text.removesuffix("...\n"))  # the end mark of a single value
    else:
        print(escaped(json.dumps(document, indent=2, ensure_ascii=False)))


def yaml_text(document: Any, dumper: "type[SafeDumper]", width: int | None = None) -> str:
    """A document as YAML that is safe for a terminal: in ASCII if it contains control
    characters."""
    import yaml

    class Dumper(dumper):  # type: ignore[valid-type, misc]  # mypy allows no parameter as a base
        """Quotes the strings that YAML 1.2 reads as numbers and PyYAML does not."""

    number = re.compile(r"(?:0o[0-7]+|[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)$")
    Dumper.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    text = ""
    for as_it_is in (True, False):
        text = yaml.dump(
            document, None, Dumper, sort_keys=False, allow_unicode=as_it_is, width=width
        )
        if plain(text) == text:
            break
    return text


def variables(prefix: str, value: Any) -> Iterator[str]:
    """Yield lines that set shell variables: PREFIX_KEY is set to a string, a number or JSON.

    For a value that is not a map, the variable is PREFIX_VALUE.
    """
    tree = value if isinstance(value, dict) else {"value": value}
    for key, found in tree.items():
        name = re.sub("[^A-Z0-9_]", "_", f"{prefix}_{key}".upper(), flags=re.ASCII)
        yield f"{name}={shlex.quote(value_text(found))}\n"
