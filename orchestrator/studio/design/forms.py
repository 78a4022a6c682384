"""Forms for resources, created from the schemas of their types (controller).

An unchanged field changes nothing. An empty field removes the property.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from inventory.scalars import BadScalarError, resolve_plain
from inventory.yaml_document import Scalar, parse_data, to_plain
from orchestrator.formatter.canonical import FIRST, LAST
from orchestrator.manifest.resource_types import PropertyType, Type
from orchestrator.studio.design.yaml_writer import in_brackets, scalar, written
from remote_runtime.errors import InputError

REFERENCES = ("require", "subscribe")
_COMMON_FIRST = ("ensure",)


class Field(NamedTuple):
    """One property in a form.

    ``kind`` is text, long, choice, lines, yaml, references or secret. ``text`` is the shown text,
    and ``choices`` are the possible values. ``is_set``: the resource has the property. If set,
    ``label`` is shown instead of the key.
    """

    key: str
    kind: str
    text: str
    choices: tuple[str, ...] = ()
    chosen: frozenset[str] = frozenset()
    about: str = ""
    default: str = ""
    required: bool = False
    is_set: bool = False
    label: str = ""

    @property
    def name(self) -> str:
        """Its display name."""
        return self.label or self.key


class Change(NamedTuple):
    """A property with its new value; ``removed`` means that it has none."""

    key: str
    value: Any = None
    removed: bool = False


def fields_of(
    type_: Type,
    properties: Mapping[str, Any],
    *,
    defaults: Mapping[str, str],
    hidden: Collection[str],
    references: Collection[str],
) -> list[Field]:
    """The fields of a resource. The fields omit the values of ``hidden`` properties; ``references``
    are the resources to which it may refer. ``defaults`` has the texts of the manifest's defaults
    for the type.
    """
    own = type_.schema
    required = {*own.get("required", ()), *own.get("else", {}).get("required", ())}
    keys = [*type_.properties, *(key for key in properties if key not in type_.properties)]
    keys.sort(key=lambda key: _rank(key, type_))
    fields = [
        _field(
            type_.properties.get(key),
            key,
            value=properties.get(key),
            is_set=key in properties,
            is_required=key in required and key not in defaults,
            is_hidden=key in hidden,
            references=references,
        )
        for key in keys
        if key in properties or not type_.properties[key].alias_of
    ]
    return [one._replace(default=defaults.get(one.key) or one.default) for one in fields]


def shown_default(value: Any) -> str:
    """A default of the manifest as text; "" for a list or a map."""
    return scalar(value) if _is_scalar(value) else ""


def property_field(
    kind: PropertyType, key: str, *, value: Any, is_set: bool, is_hidden: bool
) -> Field:
    """The field of a property that does not belong to a resource."""
    return _field(
        kind,
        key,
        value=value,
        is_set=is_set,
        is_required=False,
        is_hidden=is_hidden,
        references=(),
    )


def _rank(key: str, type_: Type) -> tuple[int, int]:
    own = list(type_.schema.get("properties", ()))
    if key in LAST:
        return 2, LAST.index(key)
    if key in own:
        return 0, -1 if key in _COMMON_FIRST else own.index(key)
    return 1, FIRST.index(key) if key in FIRST else len(FIRST)


def _field(
    kind: PropertyType | None,
    key: str,
    *,
    value: Any,
    is_set: bool,
    is_required: bool,
    is_hidden: bool,
    references: Collection[str],
) -> Field:
    schema = kind.schema if kind else {}
    made = Field(
        key,
        # A blob that may not be empty is the path of one.
        _kind(schema, key, value, is_long=bool(kind and kind.blob and "minLength" not in schema)),
        text="",
        about=str(schema.get("description", "There is no such property.")),
        default=scalar(schema["default"]) if _is_scalar(schema.get("default")) else "",
        required=is_required,
        is_set=is_set,
    )
    if is_hidden or (kind is not None and kind.secret):
        return made._replace(kind="secret")
    if made.kind == "references":
        chosen = [value] if isinstance(value, str) else list(value or ())
        names = dict.fromkeys([*chosen, *references])
        return made._replace(choices=tuple(names), chosen=frozenset(chosen))
    text = shown(made.kind, value) if is_set else ""
    if made.kind == "choice":
        choices = [scalar(one) for one in _choices(schema)]
        others = [text] if text and text not in choices else []
        return made._replace(text=text, choices=(*choices, *others))
    return made._replace(text=text)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return list(schema["enum"]) if "enum" in schema else [True, False]


def _kind(schema: Mapping[str, Any], key: str, value: Any, *, is_long: bool) -> str:
    kinds = _kinds(schema)
    is_list_of_text = isinstance(value, list) and all(
        isinstance(one, str) and "\n" not in one and one.strip() == one and one for one in value
    )
    if key in REFERENCES and (value is None or isinstance(value, str) or is_list_of_text):
        return "references"
    if isinstance(value, dict):
        return "yaml"
    if isinstance(value, list):
        return "lines" if is_list_of_text else "yaml"
    if "enum" in schema or kinds == ["boolean"]:
        return "choice"
    if "array" in kinds and (key == "tags" or _kinds(schema.get("items", {})) == ["string"]):
        return "lines"
    if "object" in kinds or "array" in kinds or not kinds:
        return "yaml"
    return "long" if is_long or (isinstance(value, str) and "\n" in value) else "text"


def shown(kind: str, value: Any) -> str:
    """The text of a value in a field of a kind."""
    if kind == "lines":
        return value if isinstance(value, str) else "\n".join(value)
    if kind == "yaml":
        return yaml_of(value)
    if isinstance(value, str) and kind != "choice":
        return value
    return scalar(value)


def shown_of(field: Field) -> str:
    """The text of a value for an unedited field in a browser; "" for a secret."""
    if field.kind == "references":
        return "\n".join(one for one in field.choices if one in field.chosen)
    return field.text


def yaml_of(value: Any) -> str:
    """A value as a separate YAML document."""
    lines = written(value, 0)
    if lines.first.startswith("|"):
        return in_brackets(value)
    return "\n".join([lines.first] if lines.first else lines.body)


def change_of(
    field: Field, properties: Mapping[str, Any], sent: list[str], schema: Mapping[str, Any]
) -> Change | None:
    """The change of a field from a browser; None for no change. InputError for invalid YAML."""
    old = properties.get(field.key)
    if field.kind == "references":
        known = {one for one in sent if one}
        if known == field.chosen:
            return None
        kept = [one for one in field.choices if one in known]
        return Change(field.key, kept) if kept else Change(field.key, removed=True)
    text = (sent[0] if sent else "").replace("\r\n", "\n")
    if field.kind == "secret":
        return Change(field.key, text) if text else None
    if text == field.text or (field.kind == "text" and "\n" in field.text):
        return None
    if not text.strip():
        return Change(field.key, removed=True) if field.is_set else None
    return Change(field.key, _value(field, text, old, schema))


def _value(field: Field, text: str, old: Any, schema: Mapping[str, Any]) -> Any:
    kinds = _kinds(schema)
    if field.kind == "yaml":
        return to_plain(parse_data(text, field.key))
    if field.kind == "lines":
        return _lines(text, old, kinds)
    if field.kind == "choice":
        values = {scalar(one): one for one in _choices(schema)}
        return values.get(text, text)
    if field.kind == "long":
        keeps = text.endswith("\n") or _is_one_line(old) or _is_expression(text)
        return text if keeps else text + "\n"
    return _number(text, kinds)


def _is_expression(text: str) -> bool:
    """Whether a string is a single expression, so that the last newline comes from its value."""
    return text.startswith("{{") and text.endswith("}}") and "\n" not in text


def _is_one_line(old: Any) -> bool:
    return isinstance(old, str) and not old.endswith("\n")


def _lines(text: str, old: Any, kinds: list[str]) -> Any:
    items = [line.strip() for line in text.split("\n") if line.strip()]
    if len(items) == 1 and (
        _is_expression(items[0]) or ("string" in kinds and not isinstance(old, list))
    ):
        return items[0]
    return items


def _number(text: str, kinds: list[str]) -> Any:
    """A number if the schema accepts one; else the text."""
    wanted = [kind for kind in ("integer", "number") if kind in kinds]
    if not wanted:
        return text
    try:
        kind, value = resolve_plain(text.strip())
    except BadScalarError:
        return text
    return value if kind == "int" or (kind == "float" and "number" in wanted) else text


def data_value(text: str, name: str) -> Any:
    """The value of a key of the data, which is written as YAML. InputError."""
    node = parse_data(text.replace("\r\n", "\n"), name)
    if isinstance(node, Scalar) and node.kind == "null" and not text.strip():
        return ""
    problems = node.source.encrypted
    if problems:
        raise InputError([])
    return to_plain(node)
