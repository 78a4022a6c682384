"""The functions of expr-lang (controller), which ``string_functions`` and
``list_functions`` implement.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from orchestrator.language.exprlang import list_functions, string_functions
from orchestrator.language.exprlang.values import Table

ANY = 1_000


class Function(NamedTuple):
    """``usage`` and ``meaning`` are for people; ``predicate`` is the position of the predicate, or
    -1.
    """

    call: Callable[..., Any]
    usage: str
    meaning: str
    least: int
    maximum: int
    predicate: int = -1

    def takes(self) -> str:
        """How many arguments, in words."""
        if self.maximum == ANY:
            return f"{self.least} arguments or more"
        count = str(self.least) if self.least == self.maximum else f"{self.least} to {self.maximum}"
        return f"{count} argument{'' if self.maximum == 1 else 's'}"


FUNCTIONS: dict[str, Function] = {}


def _add(group: Table, predicate: int = -1) -> None:
    """Derives the number of arguments from the parameters: ``a, b[, c]``."""
    for name, (call, parameters, meaning) in group.items():
        needed, _, optional = parameters.partition("[")
        least = needed.count(",") + 1 if needed else 0
        maximum = least + optional.count(",")
        if "…" in parameters:
            least, maximum = least - 1, ANY
        usage = f"{name}({parameters})"
        FUNCTIONS[name] = Function(
            call, usage, meaning=meaning, least=least, maximum=maximum, predicate=predicate
        )


_add(string_functions.FUNCTIONS)
_add(list_functions.FUNCTIONS)
_add(list_functions.PREDICATES, 1)

_BITS = "bit operations are not supported"

REFUSED = {
    "date": "compare text in RFC 3339, the format of now()",
    "duration": "write the number of seconds: now().Unix() - 3600",
    "timezone": "now() is in UTC",
    **dict.fromkeys(
        (
            "bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl", "bitshr", "bitushr",
        ),
        _BITS,
    ),
    "splitN": "split(text, separator, n)",
    "splitAfterN": "splitAfter(text, separator, n)",
    "length": "len(x) or x|length",
    "size": "len(x)",
    "str": "string(x)",
    "print": "string(x)",
    "sprintf": "a ~ b, or '%s' % x",
    "contains": "it is an operator: text contains part",
    "startsWith": "it is an operator: text startsWith start",
    "endsWith": "it is an operator: text endsWith end",
    "matches": "it is an operator: text matches pattern",
}  # fmt: skip
"""Functions with a different name or without support, and what to write instead."""
