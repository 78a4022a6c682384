"""The newline at the end of a template, which Ansible and ccm treat differently (controller).

Ansible renders a text without its last newline, and then adds newlines until the result ends with
as many as the text does. ccm renders the last newline unchanged, or drops it after a block.
"""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import is_template, parse_template, path_of
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.tags import Piece, pieces
from orchestrator.ansible.problems import NotConvertible

_NEWLINE, _OTHER, _EMPTY = "newline", "other", "empty"
_WITH_NEWLINE = frozenset(["to_nice_yaml", "to_yaml"])
_SILENT = (nodes.Assign, nodes.AssignBlock, nodes.Macro, nodes.Import, nodes.FromImport)
_WHOLE = r"{{ whole ~ '\n' if whole and not whole.endswith('\n') else whole }}"
_TAG_END = re.compile(r"[}%#]\}$")


def adapted(text: str, scope: Scope, *, strips_left: bool = False, trims: bool = True) -> str:
    """A template that ends in ccm as the given one does in Ansible.

    ``strips_left``: white space before a block is removed. ``trims``: a newline after a block is.
    NotConvertible.
    """
    body = text.rstrip("\n")
    if body == text or _TAG_END.search(body) is None:
        return text
    more = text[len(body) + 1 :]
    return _with_one(body + "\n", scope, strips_left=strips_left, trims=trims) + more


def _with_one(text: str, scope: Scope, *, strips_left: bool, trims: bool) -> str:
    last = _last_tag(text)
    tree = parse_template(text[:-1])
    if last is None or tree.find(nodes.Extends) is not None:
        return text
    found = _ends(tree.body, frozenset([_EMPTY]), scope)
    dropped = _is_dropped(last) if trims else _strips(last)
    if strips_left and dropped:
        found |= {_OTHER, _NEWLINE}
    if (_NEWLINE not in found and not dropped) or (_OTHER not in found and dropped):
        return text
    if _OTHER not in found:
        return text[:-1]
    if found == {_OTHER}:  # behind a tag that drops one newline
        return text[:-1] + "{{ '\\n' }}" if _strips(last) else text + "\n"
    first = "\n" if text.startswith("\n") else ""
    return "{% set whole %}" + first + text[:-1] + "{% endset %}" + _WHOLE


def of_included(text: str) -> str:
    """A template that another one includes: Ansible drops its last newline."""
    last = _last_tag(text)
    dropped = last is not None and _is_dropped(last)
    return text.removesuffix("\n") if not dropped or text.endswith("\n\n") else text


def _last_tag(text: str) -> Piece | None:
    """The tag before the last newline; None if there is text between them."""
    *rest, end = pieces(text)
    return rest[-1] if rest and end.text == "\n" else None


def _is_dropped(tag: Piece) -> bool:
    """Whether Jinja drops the newline after a tag."""
    return tag.kind != "expression" or _strips(tag)


def _strips(tag: Piece) -> bool:
    """Whether a tag removes all white space after it."""
    return "-" in tag.after or (tag.kind == "comment" and tag.text.endswith("-#}"))


def _ends(body: list[Any], before: frozenset[str], scope: Scope) -> frozenset[str]:
    """How the result of nodes can end, if it ends as in ``before`` without them."""
    for one in body:
        before = _after(one, before, scope)
    return before


def _after(node: Any, before: frozenset[str], scope: Scope) -> frozenset[str]:
    if isinstance(node, nodes.Output):
        for one in node.nodes:
            before = _printed(one, before, scope)
        return before
    if isinstance(node, nodes.If):
        branches = [node.body, *(one.body for one in node.elif_), node.else_]
        return frozenset().union(*(_ends(one, before, scope) for one in branches))
    if isinstance(node, nodes.For):
        once = _ends(node.body, before, scope)
        return before | once | _ends(node.body, once, scope) | _ends(node.else_, before, scope)
    if isinstance(node, _SILENT):
        return before
    if isinstance(node, nodes.Block):
        return _ends(node.body, before, scope)
    return frozenset([_NEWLINE, _OTHER])


def _printed(node: Any, before: frozenset[str], scope: Scope) -> frozenset[str]:
    if isinstance(node, nodes.TemplateData):
        return _of_text(node.data, before)
    inner = node
    while isinstance(inner, nodes.Filter) and inner.name == "indent" and len(inner.args) < 3:
        inner = inner.node
    if isinstance(inner, nodes.Filter) and inner.name.rsplit(".", 1)[-1] in _WITH_NEWLINE:
        return frozenset([_NEWLINE])
    values = _texts_of(inner, scope)
    if values:
        return frozenset().union(*(_of_text(one, before) for one in values))
    try:
        sample = sample_of(inner, scope)
    except NotConvertible:
        return frozenset([_OTHER])
    found: frozenset[str] = frozenset([_OTHER] if sample.open or sample.kinds else [])
    for value in sample.values:
        found |= _of_text(value, before) if isinstance(value, str) else {_OTHER}
    return found or frozenset([_OTHER])


def _texts_of(node: Any, scope: Scope) -> list[str]:
    """The texts of a variable if their ends are known: Ansible keeps that of a template."""
    name, keys = path_of(node) or ("", [])
    if keys or name in scope.locals or name in scope.task_vars:
        return []
    values = scope.values.get(name, [])
    known = [one for one in values if isinstance(one, str)]
    known = [one for one in known if one.endswith("\n") or not is_template(one)]
    return known if len(known) == len(values) else []


def _of_text(text: str, before: frozenset[str]) -> frozenset[str]:
    if not text:
        return before
    return frozenset([_NEWLINE if text.endswith("\n") else _OTHER])
