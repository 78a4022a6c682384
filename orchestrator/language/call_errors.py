"""Python's complaints about calls and operators, in the words of templates (controller)."""

from __future__ import annotations

import re

_CALL = re.compile(
    r"(?:[\w<>]+\.)*(?:(?:sync_)?do_|test_)?(?P<name>\w+?)_?\(\) "
    r"(?P<what>missing|takes|got) (?P<rest>.+)",
    re.DOTALL,
)
_NAME = re.compile(r"'(\w+)'")
_SPELLED = {"kv_get": "kvGet"}
"""The functions that templates spell in another way than Python does."""
_UNKNOWN = re.compile(r"No (?P<what>test|filter) named (?P<name>'.*')\.?")
"""Jinja2's words for a name that is only known as it is used, as in ``map('nope')``."""

_OPERATORS = (
    re.compile(
        r"unsupported operand type\(s\) for (?P<sign>\S+?): '(?P<left>\w+)' and '(?P<right>\w+)'"
    ),
    re.compile(
        r"'(?P<sign>\S+)' not supported between instances of '(?P<left>\w+)' and '(?P<right>\w+)'"
    ),
    re.compile(r"can only concatenate (?P<left>\w+) \(not \"(?P<right>\w+)\"\) to (?P<sign>\w+)"),
)
_OBJECT = re.compile(r"'(?P<left>\w+)' object is not (?P<what>callable|iterable|subscriptable)")
_OBJECTS = {
    "callable": "is not a function",
    "iterable": "is not a list",
    "subscriptable": "has no elements",
}
_KINDS = {
    "str": "text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "NoneType": "null",
    "list": "a list",
    "tuple": "a list",
    "dict": "a map",
}


def of_operator(message: str) -> str:
    """The message, in the words for values that templates have if it is about an operator."""
    for form in _OPERATORS:
        if found := form.fullmatch(message):
            left, right = _KINDS.get(found["left"]), _KINDS.get(found["right"])
            if left is None or right is None:
                return message
            sign = "+" if found["sign"].isalpha() else found["sign"]
            join = " (~ joins texts)" if sign == "+" and "text" in (left, right) else ""
            return f"{sign} does not take {left} and {right}{join}"
    found = _OBJECT.fullmatch(message)
    if found and found["left"] in _KINDS:
        return f"{_KINDS[found['left']]} {_OBJECTS[found['what']]}"
    return message


def of_call(message: str) -> str:
    """The message, without names of ccm's own code if it is about a call or an operator."""
    unknown = _UNKNOWN.fullmatch(message)
    if unknown:
        return f"there is no {unknown['what']} {unknown['name']}"
    found = _CALL.fullmatch(message)
    if not found:
        return of_operator(message)
    name = f"{_SPELLED.get(found['name'], found['name'])}()"
    named = _NAME.findall(found["rest"])
    if found["what"] == "missing" and named:
        return f"{name} needs {' and '.join(filter(None, (', '.join(named[:-1]), named[-1])))}"
    if "unexpected keyword argument" in message and named:
        return f"{name} has no argument {named[0]!r}"
    if "multiple values for argument" in message and named:
        return f"{name} gets {named[0]!r} twice"
    if "positional argument" in message and found["what"] == "takes":
        return f"{name} gets too many arguments"
    return f"{name} {found['what']} {found['rest']}"
