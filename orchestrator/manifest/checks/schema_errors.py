"""Translates jsonschema errors into ccm's messages (controller)."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from orchestrator.support.plain_text import value_text
from remote_runtime.text.suggestions import nearest
from schemas.fast_validation import Fits, fits

_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a map",
    "null": "null",
}
_LIMITS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} entry",
    "maxItems": "must have at most {} entries",
    "minProperties": "must have at least {} key",
    "maxProperties": "must have at most {} keys",
    "multipleOf": "must be a multiple of {}",
}
_MAX_HINT_LENGTH = 160
_WORD = r"[A-Za-z0-9/][A-Za-z0-9_./=#-]{0,59}"
_ONE_OF_THEM = "use exactly one of them"
_REQUIRED = r"'(.*)' is a required property\Z"


class SchemaError(NamedTuple):
    """One problem of a value: its path, the message and the hint.

    ``wants_text``: text was expected and a number or a boolean was found. ``unknown_key``: the last
    key of the path is not allowed, regardless of its value. ``missing``: the required key that is
    missing.
    """

    path: tuple[str | int, ...]
    message: str
    hint: str = ""
    wants_text: bool = False
    unknown_key: bool = False
    missing: str = ""


class SchemaValidator:
    """A schema that reports problems of values.

    The first call builds a fast validator. jsonschema, which supplies the messages, is loaded only
    for an invalid value.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._validator: Any = None

    @cached_property
    def _fits(self) -> Fits | None:
        return fits(self._schema)

    def __call__(self, value: Any, name: str) -> list[SchemaError]:
        """The problems of a value, which messages refer to by ``name``."""
        if self._fits is not None and self._fits(value):
            return []
        if self._validator is None:
            from jsonschema import Draft202012Validator

            self._validator = Draft202012Validator(_located(self._schema))
        errors = self._validator.iter_errors(value)
        return [entry for error in errors for entry in schema_errors(error, name)]


def _located(schema: Any) -> Any:
    """The schema with a longer form of properties that are ``false``, because jsonschema has no
    path for values that ``false`` refuses.
    """
    if isinstance(schema, list):
        return [_located(entry) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: _located(value) for key, value in schema.items()}
    if isinstance(properties := found.get("properties"), dict):
        found["properties"] = {
            name: {"not": {}} if one is False else one for name, one in properties.items()
        }
    return found


def schema_errors(error: Any, name: str) -> list[SchemaError]:
    """The messages for one ``jsonschema.ValidationError`` about the value called ``name``."""
    path = tuple(error.absolute_path)
    subject = _subject(name, path)
    keyword = error.validator
    if keyword in ("anyOf", "oneOf") and error.context:
        return _of_choice(error, name, subject, path)
    if keyword == "oneOf" and (both := _fulfilled(error)):
        return [SchemaError(path, f"{subject} has both {' and '.join(both)}", _ONE_OF_THEM)]
    if keyword == "not" and (both := error.validator_value.get("required")):
        return [SchemaError(path, f"{subject} has both {' and '.join(both)}", _ONE_OF_THEM)]
    if keyword == "additionalProperties" and isinstance(error.instance, dict):
        return _of_unknown_keys(error, subject, path)
    if keyword == "required":
        match = re.match(_REQUIRED, error.message, re.DOTALL)
        lacking = match[1] if match else ", ".join(error.validator_value)
        return [SchemaError(path, _missing(subject, repr(lacking)), missing=lacking)]
    message, hint = _sentence(error, keyword, subject)
    wants_text = keyword == "type" and _wants_text(error.validator_value, error.instance)
    return [SchemaError(path, message, hint, wants_text)]


def show(value: Any) -> str:
    """A value as written in YAML, shortened."""
    text = value_text(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def with_article(noun: str) -> str:
    """The word with its article: ``an exec``, ``a file``, ``a user``."""
    return f"{'an' if noun[:1] in 'aeiou' and noun[:3] != 'use' else 'a'} {noun}"


def kind_of(value: Any) -> str:
    """The type of a value, in words."""
    for kind, words in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return _KINDS[words]
    return _KINDS["null" if value is None else "array" if isinstance(value, list) else "object"]


def summary(description: str) -> str:
    """The first sentence of a description, as a hint; "" if it is long."""
    plain = re.sub(r"`(\.+)`", r"'\1'", description).replace("`", "")
    first = re.split(r"\.(?:\s+(?=[A-Z])|$)", plain, maxsplit=1)[0]
    return _lowered(first) if len(first) <= _MAX_HINT_LENGTH else ""


def rule_message(key: str, message: str) -> str:
    """The message of a type's own rule, which names the property once."""
    subject = "the name" if key == "name" else key
    if key and message.startswith("it "):
        return subject + message[2:]
    has_name = message.startswith(f"{key} ") or re.match(rf"\w+ and {re.escape(key)}\b", message)
    return message if key in ("", "name") or has_name else f"{key}: {message}"


def whole_number(name: str, value: float) -> SchemaError:
    """The problem of a float where only an integer is valid, such as 1.0 or 1e3."""
    message = f"{name} must be a whole number, not {show(value)}"
    return SchemaError((), message, f"write {int(value)}")


def _sentence(error: Any, keyword: str, subject: str) -> tuple[str, str]:
    wanted, value, schema = error.validator_value, error.instance, error.schema
    description = schema.get("description", "") if isinstance(schema, dict) else ""
    if keyword == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        words = _either(kinds)
        hint = "quote it" if _wants_text(wanted, value) else _other_form(kinds, value, schema)
        shown = "null" if value is None else f"{kind_of(value)} ({show(value)})"
        return f"{subject} must be {words}, not {shown}", hint
    if keyword == "enum":
        known = [str(entry) for entry in wanted]
        likely = nearest(str(value), known)
        usual = f"the default is {schema['default']}" if "default" in schema else ""
        hint = f"did you mean {likely}?" if likely else usual
        *others, last = known
        choice = f"{', '.join(others)} or {last}" if others else last
        choice = f"one of {choice}" if others[1:] else choice
        return f"{subject} must be {choice}, not {show(value)}", hint
    if keyword == "const":
        return f"{subject} must be {show(wanted)}, not {show(value)}", ""
    if keyword == "pattern":
        hint = summary(description) or _lowered(description.replace("`", "").rstrip("."))
        hint = re.sub(r" \(([^()]*)\)$", r", \1", hint)  # a hint is in parentheses itself
        return f"{subject} {show(value)} is not allowed", f"expected: {hint}" if hint else ""
    if keyword in ("minLength", "minItems", "minProperties") and wanted == 1:
        return f"{subject} must not be empty", ""
    if keyword in _LIMITS:
        return f"{subject} {_LIMITS[keyword].format(wanted)}, not {show(value)}", ""
    return f"{subject} {show(value)} is not allowed", _lowered(description)


def _either(kinds: Sequence[str]) -> str:
    """The types in words: ``text, a number or null``."""
    words = ", ".join(_KINDS[kind] for kind in kinds).replace(" or ", ", ")
    return " or ".join(words.rsplit(", ", 1))


def _other_form(kinds: list[str], value: Any, schema: Any) -> str:
    """The correct form of a value of another kind that can mean only one thing; otherwise ""."""
    if value is None:
        return "write a value, or omit the property"
    if kinds == ["object"] and schema.get("properties"):
        return "write a map with the keys " + ", ".join(sorted(schema["properties"]))
    if not isinstance(value, str):
        return ""
    if "boolean" in kinds and value in ("true", "false"):
        return f"write {value} without quotes"
    if "integer" in kinds and re.fullmatch(r"[0-9]{1,10}(_[0-9]{3})*", value):
        return f"write {value.replace('_', '')} without quotes"
    if kinds == ["array"] and schema.get("items", {}).get("type") == "integer":
        return "write a list of whole numbers"
    if kinds == ["array"] and re.fullmatch(_WORD, value):
        return f"write [{value}]"
    return ""


def _of_choice(
    error: Any, name: str, subject: str, path: tuple[str | int, ...]
) -> list[SchemaError]:
    """The error of the branch whose type matches; otherwise a message with all valid types."""
    branches: dict[Any, list[Any]] = {}
    for found in error.context:
        branches.setdefault(found.schema_path[0], []).append(found)
    if all(f.validator == "required" for fs in branches.values() for f in fs):
        one = error.validator == "oneOf"
        found = [f.validator_value for fs in branches.values() for f in fs]
        words = " or ".join(", ".join(map(repr, keys)) for keys in found)
        return [SchemaError(path, _missing(subject, words), _ONE_OF_THEM if one else "")]
    fitting = [
        found
        for found in branches.values()
        if not any(f.validator in ("type", "const") and not f.path for f in found)
    ]
    if len(fitting) == 1:
        return [entry for found in fitting[0] for entry in schema_errors(found, name)]
    kinds = [f.validator_value for fs in branches.values() for f in fs if f.validator == "type"]
    words = _either([kind for kind in kinds if isinstance(kind, str)])
    message = (
        f"{subject} must be {words}" if words else f"{subject} must have one of the allowed forms"
    )
    return [SchemaError(path, f"{message}, not {show(error.instance)}", _description(error))]


def _fulfilled(error: Any) -> list[str]:
    """The keys that are present, from branches that only list required keys."""
    branches = [branch.get("required") for branch in error.validator_value]
    if not all(branches) or not isinstance(error.instance, dict):
        return []
    return [", ".join(keys) for keys in branches if all(key in error.instance for key in keys)]


def _of_unknown_keys(error: Any, subject: str, path: tuple[str | int, ...]) -> list[SchemaError]:
    known = list(error.schema.get("properties", {}))
    return [
        SchemaError(
            (*path, key),
            f"unknown key {key!r}" if subject == "it" else f"{subject}: unknown key {key!r}",
            suggestion(key, known),
            unknown_key=True,
        )
        for key in error.instance
        if key not in known
    ]


def suggestion(word: str, known: list[str]) -> str:
    """A hint with the most similar valid word, or with all valid words."""
    likely = nearest(word, known)
    return f"did you mean {likely}?" if likely else "known: " + ", ".join(sorted(known))


def _description(error: Any) -> str:
    text = str(error.schema.get("description", "")) if isinstance(error.schema, dict) else ""
    return _lowered(text)


def _lowered(text: str) -> str:
    """A description as a hint, which continues a sentence; acronyms keep their capitals."""
    return text if re.match("[A-Z]{2}", text) else text[:1].lower() + text[1:]


def _missing(subject: str, words: str) -> str:
    """The message for a required property; ``words`` has its name, or several names."""
    told = f"required property {words} is missing"
    return told if subject == "it" else f"{subject}: {told}"


def _subject(name: str, path: tuple[str | int, ...]) -> str:
    """The subject of a message; in a document, whose name has several words, only the path."""
    text = "" if path and " " in name else name
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _wants_text(wanted: Any, value: Any) -> bool:
    return wanted == "string" and isinstance(value, bool | int | float)
