"""Translates Python's errors about calls and operators into terms of templates (controller)."""

import re
from collections.abc import Sequence

_CALL = re.compile(
    r"(?:[\w<>]+\.)*(?:(?:sync_)?do_|test_)?(?P<name>\w+?)_?\(\) "
    r"(?P<what>missing|takes|got) (?P<rest>.+)",
    re.DOTALL,
)
_NAME = re.compile(r"'(\w+)'")
_SPELLED = {"kv_get": "kvGet"}
"""The functions with different names in templates and in Python."""
_UNKNOWN = re.compile(r"No (?P<what>test|filter) named (?P<name>'.*')\.?")
"""Jinja2's error for an unknown name that is found only at use, as in ``map('nope')``."""
_INLINE_IF = re.compile(r"the inline if-expression on .* no else section was defined\.")
_SYNTAX = (
    (r"Encountered unknown tag ('(?:end\w*|else|elif)')\.", r"unexpected tag \1"),
    (r"Encountered unknown tag ('.*?')\.", r"unknown tag \1"),
    (r"Unexpected end of template\.", "unexpected end of the template"),
    (
        r" (?:You probably [\w ]+\. )?Jinja (?:is expecting|was looking).*?\.(?= |$)",
        "",
    ),
    (
        r" The innermost block that needs to be closed is ('\w+')\.",
        r" (the innermost open block is \1)",
    ),
    (r"^unexpected 'end of print statement'$", "unexpected end of the expression"),
    (r"^unexpected 'end of statement block'$", "unexpected end of the tag"),
    (r"'end of print statement'", "the end of the expression"),
    (r"'end of statement block'", "the end of the tag"),
    (r"^expected token (.*), got (.*)$", r"expected \1, not \2"),
    (r"^tag name expected$", "expected the name of a tag"),
    (r"^Missing end of comment tag$", "the comment is not closed"),
    (r"^Missing end of raw directive$", "the raw block is not closed"),
    (r"^You cannot chain multiple tests with is$", "only one test can follow 'is'"),
)
"""Parts of Jinja2's errors about the syntax of a template with ccm's words."""

_TYPE = r"(?:type )?'?(?P<{}>\w+)'?"
_LEFT, _RIGHT = _TYPE.format("left"), _TYPE.format("right")
_FORMS = (
    (
        rf"unsupported operand type\(s\) for (?P<sign>\S+?)(?: or pow\(\))?: {_LEFT} and {_RIGHT}",
        "",
    ),
    (rf"'(?P<sign>\S+)' not supported between instances of {_LEFT} and {_RIGHT}", ""),
    (rf'can only concatenate {_LEFT} \(not "(?P<right>\w+)"\) to (?P<sign>\w+)', ""),
    (
        rf"bad operand type for (?:unary )?(?P<sign>\S+): {_LEFT}",
        "{sign} cannot be used with {left}",
    ),
    (rf"{_LEFT} object is not callable", "expected a function, not {left}"),
    (rf"{_LEFT} object is not (?:iterable|reversible)", "expected a list, not {left}"),
    (rf"{_LEFT} object is not subscriptable", "{left} has no elements"),
    (rf"{_LEFT} object has no attribute (?P<sign>'\w+')", "{left} has no key {sign}"),
    (rf"argument of {_LEFT} is not iterable", "expected a list, not {left}"),
    (rf"cannot unpack non-iterable {_LEFT} object", "expected a list, not {left}"),
    (rf"object of {_LEFT} has no len\(\)", "{left} has no length"),
    (
        rf"'in <string>' requires string as left operand, not {_LEFT}",
        "{left} cannot be part of text",
    ),
    (rf"{_LEFT} doesn't define __(?P<sign>\w+)__ method", "{sign} cannot be used with {left}"),
    (rf"{_LEFT} object cannot be interpreted as an integer", "expected a whole number, not {left}"),
    (rf"unhashable type: {_LEFT}", "{left} cannot be a key"),
    (rf"must be str or None, not {_LEFT}", "expected text, not {left}"),
    (rf"(?P<sign>\w+\(\)) argument \d must be str, not {_LEFT}", "{sign} takes text, not {left}"),
    (
        rf"sequence item (?P<sign>\d+): expected str instance, {_LEFT} found",
        "element {sign} is {left}, not text",
    ),
)
"""Python's errors about operators and values with ccm's messages; "" if there are two operands."""
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


def call_without(function: str, names: Sequence[str]) -> str:
    """The message for a call without these required arguments."""
    *others, last = map(repr, names)
    which = f"arguments {', '.join(others)} and {last}" if others else f"argument {last}"
    return f"{function} requires the {which}"


def of_syntax(message: str) -> str:
    """Jinja2's message about the syntax of a template, in ccm's words."""
    for form, words in _SYNTAX:
        message = re.sub(form, words, message)
    return message


def of_operator(message: str) -> str:
    """The message, in terms of template values if it is about an operator."""
    for form, words in _FORMS:
        if found := re.fullmatch(form, message):
            named = found.groupdict()
            left, right = _KINDS.get(named["left"]), _KINDS.get(named.get("right", "str"))
            if left is None or right is None:
                return message
            if words:
                return words.format(left=left, sign=named.get("sign"))
            sign = "+" if named["sign"].isalpha() else named["sign"]
            if sign == "+":
                join = " (use ~ to join text)" if "text" in (left, right) else ""
                return f"+ cannot add {left} and {right}{join}"
            if sign in ("<", "<=", ">", ">="):
                return f"{sign} cannot compare {left} with {right}"
            return f"{sign} cannot be used with {left} and {right}"
    return message


def of_call(message: str) -> str:
    """The message, without names from ccm's code if it is about a call or an operator."""
    if _INLINE_IF.fullmatch(message):
        return "the condition of the inline 'if' is false, and there is no 'else'"
    unknown = _UNKNOWN.fullmatch(message)
    if unknown:
        return f"there is no {unknown['what']} {unknown['name']}"
    found = _CALL.fullmatch(message)
    if not found:
        return of_operator(message)
    name = f"{_SPELLED.get(found['name'], found['name'])}()"
    named = _NAME.findall(found["rest"])
    if found["what"] == "missing" and named:
        return call_without(name, named)
    if "unexpected keyword argument" in message and named:
        return f"{name} has no argument {named[0]!r}"
    if "multiple values for argument" in message and named:
        return f"{name} gets {named[0]!r} twice"
    if "positional argument" in message and found["what"] == "takes":
        return f"too many arguments for {name}"
    return f"{name} {found['what']} {found['rest']}"
