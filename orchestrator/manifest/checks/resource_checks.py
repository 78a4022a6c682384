"""Checks of one declared resource that need no host (controller)."""

from typing import Any

from inventory.scalars import other_reading
from inventory.yaml_document import Mapping, Node, Scalar, to_plain
from orchestrator.expressions import Expression
from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.checks.control_conditions import read_host_conditions
from orchestrator.manifest.checks.health_rules import KEY as HEALTH_CHECKS
from orchestrator.manifest.checks.health_rules import health_problems
from orchestrator.manifest.checks.other_tools import property_hint
from orchestrator.manifest.checks.references import REFERENCES, unrendered
from orchestrator.manifest.checks.schema_errors import SchemaError, rule_message, suggestion
from orchestrator.manifest.declared_resource import Control, DeclaredResource
from orchestrator.manifest.resource_types import PropertyType, Type
from orchestrator.manifest.value_compiler import (
    compile_node,
    expressions_in,
    is_templated,
    parse_bare,
    parse_template,
    with_entry,
)
from remote_runtime.errors import Problem

Nodes = dict[str, tuple[Scalar, Node]]


def _word_for(text: str, known: list[str]) -> str:
    """A suggestion for a word that is not a property."""
    return property_hint(text, known) or suggestion(text, known)


def known_properties(type_: Type, mapping: Mapping, problems: list[Problem]) -> Nodes:
    """The properties in a map under their documented names; unknown ones become problems."""
    nodes: Nodes = {}
    for text, (key, value) in mapping.entries.items():
        name = type_.spellings.get(text, text)
        if text not in type_.properties:
            known = [n for n in type_.properties if n not in type_.spellings]
            message = f"{type_.name} has no property {text!r}"
            problems.append(Problem(message, key.position, _word_for(text, known), "input.unknown"))
        elif name in nodes:
            message = f"{text!r} and {nodes[name][0].text!r} are the same property"
            problems.append(Problem(message, key.position, f"keep {name!r}", "input.duplicate_key"))
        else:
            nodes[name] = (key, value)
    return nodes


def declare(
    type_: Type,
    name: Scalar,
    *,
    nodes: Nodes,
    problems: list[Problem],
    written: str | None = None,
    defaults: Nodes | None = None,
) -> DeclaredResource:
    """The resource with parsed templates, after every check that needs no host.

    ``written``: it was generated, so nothing in it is a template; see ``DeclaredResource``. Its own
    properties override ``defaults``.
    """
    whole = {**(defaults or {}), **nodes}
    before = len(problems)
    declared = DeclaredResource(type_, name, whole, frozenset(whole.keys() - nodes.keys()))
    ensure = whole.get("ensure")
    idle = declared.idle(ensure[1].value if ensure and isinstance(ensure[1], Scalar) else None)
    nodes = declared.nodes = {
        key: (word, _octal_text(node) if type_.properties[key].octal else node)
        for key, (word, node) in whole.items()
        if key not in idle
    }
    declared.written = written
    rendered = _renders(nodes)
    declared.raw = {key: to_plain(node) for key, (_, node) in nodes.items()}
    if rendered and written is None and name.kind == "str" and holds_expression(name.text):
        declared.name = parse_template(name, problems, extra=declared.loop_names)
    for key, (_, node) in nodes.items():
        kind = type_.properties[key]
        # A generated resource may have defaults, which the user wrote.
        generated = written is not None and node.source is name.source
        if rendered and not generated and kind.render != "never":
            declared.values[key] = compile_node(
                node, problems, keys=kind.render_keys, extra=declared.loop_names
            )
        else:
            declared.values[key] = declared.raw[key]
    declared.templated = tuple(k for k, v in declared.values.items() if is_templated(v))
    _check(declared, problems)
    _take_over(declared, problems)
    declared.faulty = len(problems) > before
    return declared


def _octal_text(node: Node) -> Node:
    """A mode as text: 0o644 keeps its spelling from the file."""
    if isinstance(node, Scalar) and node.kind == "int" and node.text.startswith("0o"):
        return Scalar(
            node.source,
            node.line,
            column=node.column,
            text=node.text,
            kind="str",
            value=node.text,
            plain=False,
        )
    return node


def warnings(declared: DeclaredResource) -> list[Problem]:
    """Warnings about valid values that are probably mistakes, each with its place."""
    text = declared.name_node.text
    warnings: list[Problem] = []
    if declared.foreach is not None and isinstance(declared.name, str):
        hint = "use item, index or key in the name"
        hint += f" and 'manifest: {text}'" if declared.type.applies else ""
        message = (
            f"{declared.id}: foreach gives every resource the same name, so only one iteration is "
            "allowed"
        )
        warnings = [Problem(message, declared.position, hint)]
    return warnings + [
        Problem(f"{declared.id}: {key}: {message}", declared.where((key,)), hint)
        for key, message, hint in declared.type.warnings(text, declared.raw)
        if (isinstance(declared.name, str) if key == "name" else key not in declared.templated)
        and not declared.hides(key)
    ]


def refuse_loop(defaults: Nodes, problems: list[Problem]) -> None:
    """Refuse ``foreach`` in defaults, because it creates resources from one entry while defaults
    apply to many.
    """
    if "foreach" in defaults:
        key, _ = defaults["foreach"]
        message = "foreach is not allowed in defaults"
        problems.append(
            Problem(message, key.position, "write it on each entry that loops", "input")
        )


def _renders(nodes: Nodes) -> bool:
    entry = nodes.get("render")
    return not (entry and isinstance(entry[1], Scalar) and entry[1].value is False)


def _check(declared: DeclaredResource, problems: list[Problem]) -> None:
    type_ = declared.type
    before = len(problems)
    if isinstance(declared.name, str):
        _report(declared, (), type_.name_complaints(declared.name), problems)
    for key, value in declared.values.items():
        kind = type_.properties[key]
        if key in declared.templated:
            errors = certain_errors(kind, declared.raw[key])
        else:
            errors = kind.complaints(value)
        _report(declared, (key,), errors, problems)
    _check_health(declared, problems)
    _check_provider(declared, problems)
    _check_files(declared, problems)
    if "ensure" in declared.templated:
        return  # it selects among the rules below
    _report(declared, (), type_.whole_complaints(declared.raw), problems)
    formed = all(has_its_form(type_.properties[k], declared.raw[k]) for k in declared.templated)
    if len(problems) > before or not formed:
        return  # the type's own rules may assume that the schema matches
    for key, message in type_.check(declared.name_node.text, declared.raw):
        known = isinstance(declared.name, str) if key == "name" else key not in declared.templated
        if known:
            text, hint = rule_message(key, message), type_.hint_for("")
            if declared.hides(key, ()):
                text, hint = f"{key} has a masked value that is not allowed", type_.hint_for(key)
            problems.append(Problem(f"{declared.id}: {text}", declared.where((key,)), hint))


def _report(
    declared: DeclaredResource,
    prefix: tuple[str | int, ...],
    errors: list[SchemaError],
    problems: list[Problem],
) -> None:
    for complaint in errors:
        path = (*prefix, *complaint.path)
        message, hint, kind = complaint.message, complaint.hint, "input"
        scalar = declared.scalar_at(path)
        if scalar is not None and path[0] in REFERENCES and holds_expression(scalar.text):
            problems.append(unrendered(declared, str(path[0]), scalar.text, scalar.position))
            continue
        if path and declared.hides(str(path[0]), path[1:]):
            message = f"{_name(path)} has a masked value that is not allowed"
            hint = declared.type.hint_for(str(path[0]))  # the complaint's may show the value
            if complaint.wants_text:
                message, hint = f"{_name(path)} must be text (its value is masked)", "quote it"
        elif "true or false" in message and (kind_of_text := _not_a_boolean(scalar)):
            hint = hint or kind_of_text
        elif complaint.wants_text and scalar is not None:
            as_text = str(scalar.value) == scalar.text
            read = scalar.describe() if as_text else repr(scalar.value)
            read = "a boolean" if scalar.kind == "bool" else read
            message = f"{_name(path)} must be text, but YAML reads {scalar.text} as {read}"
            refusal = _refusal_of_quoted(declared, path, scalar.text)
            hint = refusal or f'quote it: "{scalar.text}"'
            kind = "input" if refusal else "input.quote"
        missing = "" if path else complaint.missing
        hint = hint or declared.type.hint_for(missing)
        text = f"{declared.id}: {message}"
        problems.append(Problem(text, declared.where(path), hint=hint, kind=kind, missing=missing))


def _not_a_boolean(scalar: Scalar | None) -> str:
    """Return the correction of an unquoted yes or no, which is text; "" for any other value."""
    if scalar is None or not scalar.plain or scalar.kind != "str":
        return ""
    reading = other_reading(scalar.text)
    return f"{scalar.text} is text; write {reading}" if reading in ("true", "false") else ""


def _refusal_of_quoted(declared: DeclaredResource, path: tuple[str | int, ...], text: str) -> str:
    """The reason why the text itself is not valid at the path; "" if quoting it is enough."""
    key, type_ = str(path[0]), declared.type
    value = with_entry(declared.raw[key], path[1:], text)
    for complaint in type_.properties[key].complaints(value):
        if complaint.path == path[1:]:
            return "; ".join(filter(None, (complaint.message, complaint.hint)))
    # The type's own rules may assume that the schema matches their input.
    fitting = {k: v for k, v in declared.raw.items() if not type_.properties[k].complaints(v)}
    complaints = type_.check(declared.name_node.text, {**fitting, key: value})
    return "; ".join(message for name, message in complaints if name == key)


def _name(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def _check_health(declared: DeclaredResource, problems: list[Problem]) -> None:
    if HEALTH_CHECKS in declared.raw:
        errors = health_problems(declared.raw[HEALTH_CHECKS], HEALTH_CHECKS in declared.templated)
        _report(declared, (HEALTH_CHECKS,), errors, problems)


def _check_provider(declared: DeclaredResource, problems: list[Problem]) -> None:
    provider = declared.raw.get("provider")
    if "provider" in declared.templated or not isinstance(provider, str):
        return
    known = declared.type.providers
    if provider not in known:
        message = f"{declared.id}: there is no provider {provider!r} for {declared.type.name}"
        where = declared.where(("provider",))
        problems.append(Problem(message, where, suggestion(provider, list(known)), "input.unknown"))


def _check_files(declared: DeclaredResource, problems: list[Problem]) -> None:
    """Refuse ``file()`` with a target path outside deferred properties, where it can never run."""
    for key in declared.templated:
        if declared.type.properties[key].render != "deferred":
            _refuse_target_files(expressions_in(declared.values[key]), key, problems)
    _refuse_target_files(expressions_in(declared.name), "the name", problems)


def _refuse_target_files(expressions: list[Expression], key: str, problems: list[Problem]) -> None:
    for expression in expressions:
        for path in expression.target_files():
            message = f"{key} cannot read file({path!r}): it is on the target"
            hint = "absolute paths work only in deferred properties, such as content or command"
            problems.append(Problem(message, expression.where, hint, "template.file"))


def _take_over(declared: DeclaredResource, problems: list[Problem]) -> None:
    raw = declared.raw
    declared.sensitive = raw.get("sensitive") is True
    declared.require = _texts(raw.get("require"))
    declared.subscribe = _texts(raw.get("subscribe"))
    declared.tags = _texts(raw.get("tags"))
    if "foreach" in declared.nodes:
        declared.foreach = _loop(declared, declared.nodes["foreach"][1], problems)
    control = declared.nodes.get("control")
    if control and isinstance(control[1], Mapping):
        declared.control = Control(
            _condition(declared, control[1].get("if"), problems),
            _condition(declared, control[1].get("unless"), problems),
            read_host_conditions(
                control[1],
                problems,
                rendered=_renders(declared.nodes) and declared.written is None,
                names=declared.loop_names,
                of=declared.id,
            ),
        )


def _loop(declared: DeclaredResource, node: Node, problems: list[Problem]) -> Expression | None:
    """The value of ``foreach``, compiled."""
    if not isinstance(node, Scalar) or node.kind != "str":
        return None  # the schema refuses it
    if declared.written is not None:
        message = f"{declared.id}: foreach is not evaluated in the result of a resources_jet_file"
        problems.append(Problem(message, node.position, "loop with [[ range … ]]", "template"))
        return None
    expression = parse_bare(node, problems)
    if expression is None:
        return None
    literal, value = expression.constant()
    if literal:
        problems.append(not_a_loop(declared, expression, value))
    _refuse_target_files([expression], "foreach", problems)
    return expression


def not_a_loop(declared: DeclaredResource, expression: Expression, value: object) -> Problem:
    """Return the problem of a ``foreach`` that is neither a list nor a map."""
    source = expression.source.strip()
    given = "null" if value is None else f"{value!r:.60}"
    but = f"not {given}" if source == given else f"but {source} is {given}"
    message = f"{declared.id}: foreach must evaluate to a list or a map, {but}"
    return Problem(message, expression.where, "write, for example, Data.users", "template.foreach")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def _condition(
    declared: DeclaredResource, node: Node | None, problems: list[Problem]
) -> Expression | None:
    if not isinstance(node, Scalar) or node.kind not in ("str", "bool"):
        return None
    if not declared.is_literal_text(node.text):
        message = f"{declared.id}: control must be literal in the template: {node.text}"
        hint = "omit the resource with [[ if … ]]"
        problems.append(Problem(message, node.position, hint, "template.tainted"))
        return None
    expression = parse_bare(node, problems, declared.loop_names)
    if expression is None:
        return None
    literal, value = expression.constant()
    if literal and not isinstance(value, bool):
        message = f"control must return true or false, but {node.text} returns {value!r}"
        problems.append(Problem(message, node.position, "compare it with ==", "template.control"))
    _refuse_target_files([expression], "control", problems)
    return expression


def certain_errors(kind: PropertyType, raw: Any) -> list[SchemaError]:
    """The problems that do not depend on templates: unknown keys, and values without templates."""
    if isinstance(raw, str):
        return []  # one template, whose result may be anything
    return [entry for entry in kind.complaints(raw) if _is_certain(entry, raw)]


def has_its_form(kind: PropertyType, raw: Any) -> bool:
    """Whether a type's own rules can read the value: it matches the schema, or is text where text
    is valid.
    """
    if isinstance(raw, str) and kind.schema.get("type") == "string":
        return True
    return not kind.complaints(raw)


def _is_certain(complaint: SchemaError, raw: Any) -> bool:
    value = raw
    for part in complaint.path:
        if isinstance(part, str) and holds_expression(part):
            return False
        value = value[part]
    return complaint.unknown_key or not _holds_template(value)


def _holds_template(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_template(part) for entry in value.items() for part in entry)
    if isinstance(value, list):
        return any(map(_holds_template, value))
    return isinstance(value, str) and holds_expression(value)
