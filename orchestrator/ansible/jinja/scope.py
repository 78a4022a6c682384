"""The scope of names in an expression (controller)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, Protocol

from orchestrator.ansible.problems import NotConvertible


def kind_of(value: Any) -> str:
    """``bool``, ``number``, ``text``, ``list``, ``map`` or ``none``."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if value is None:
        return "none"
    if isinstance(value, str):
        return "text"
    return "map" if isinstance(value, dict) else "list"


@dataclass
class Sample:
    """Known values, the kinds of other values, and whether any other value is possible.

    ``scope`` renders templates within the values.
    """

    values: list[Any] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    open: bool = False
    scope: Scope | None = None

    def all_kinds(self) -> set[str]:
        """The kinds of all known values."""
        return self.kinds | {kind_of(one) for one in self.values}


OPEN = Sample(open=True)


class Asking(Protocol):
    """The lookups of a reading task, for each element of its loop."""

    kind: str

    def __call__(self, scope: Any) -> dict[str, Any]:
        """The lookup in the scope of one element. NotConvertible."""


@dataclass
class Register:
    """The result of a task, under the name of its ``register``."""

    name: str
    kind: str  # command, stat, file, change, or other
    task_name: str
    look_up: dict[str, Any] = field(default_factory=dict)
    references: list[str] = field(default_factory=list)  # the resources that it became
    position: int = 0  # how many resources of the manifest came before
    reason: str = ""  # why the result cannot be read
    certain: bool = True  # whether the answer is the same before the first change
    loop: Any = None  # the loop of the task, None without one
    look_up_of: Asking | None = None  # the request for one element
    never: bool = False  # whether it never counts as changed
    tolerant: bool = False  # whether the run continues if the task fails
    element: Any = None  # of one result of a loop: the element, as an expression
    # what the arguments of the task say of the result, in Ansible's syntax
    members: dict[str, Any] = field(default_factory=dict)


@dataclass
class Fleet:
    """Variables of the inventory that other hosts can read.

    ``known`` maps each variable to the reason why they cannot, "" if they can. ``read`` has the
    variables that some expression reads; the written inventory must contain them.
    """

    known: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    def share(self, name: str) -> None:
        """Let other hosts read a variable. NotConvertible if they cannot."""
        reason = self.known.get(name, "group_vars and host_vars do not set it")
        if reason:
            raise NotConvertible(f"the variable {name} of another host: {reason}")
        self.read.add(name)


@dataclass
class Uses:
    """The names that the expressions of one manifest read."""

    data: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    asks: dict[str, dict[str, Any]] = field(default_factory=dict)
    uncertainties: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)  # variables, and why they are not set
    # variables that keep the value of another place, and what is not converted
    uncertain: dict[str, str] = field(default_factory=dict)
    # entries of getent: the name of the lookup, and whether nothing changes before
    entries: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    # services, packages: whether nothing changes before the task that lists them
    listed: dict[str, bool] = field(default_factory=dict)
    in_place: set[str] = field(default_factory=set)  # variables replaced by their definitions
    optional: set[str] = field(default_factory=set)  # data that is none if nothing sets it
    samples: dict[str, Sample] = field(default_factory=dict)  # of variables, once they are known

    def name_of(self, name: str, question: dict[str, Any]) -> str:
        """The name of a lookup: the given one, with a number if another lookup has it."""
        names = chain([name], (f"{name}_{number}" for number in count(2)))
        return next(one for one in names if self.asks.get(one, question) == question)

    def ask(self, name: str, question: dict[str, Any], certain: bool) -> None:
        """Record a lookup; it is marked as uncertain unless its answer is ``certain`` not to
        change.
        """
        self.asks[name] = question
        if not certain:
            self.uncertainties.append(
                f"Asked.{name} is answered before the first change of a push; "
                "the original reads it at this point"
            )


@dataclass
class Scope:
    """The names that an expression can read.

    ``values``: the values that the project gives a variable, one for each source. ``locals``: names
    of loops and of ``{% set %}``. ``task_vars``: variables of the task, which replace the name.
    ``late``: definitions that are rendered when a task reads them, which excludes those of
    ``set_fact``. ``place``: additional names that exist only in this task file or template.
    """

    values: Mapping[str, list[Any]] = field(default_factory=dict)
    locals: dict[str, Sample] = field(default_factory=dict)
    renames: dict[str, str] = field(default_factory=dict)
    task_vars: dict[str, Any] = field(default_factory=dict)
    late: Mapping[str, list[Any]] = field(default_factory=dict)
    place: frozenset[str] = frozenset()
    registers: dict[str, Register] = field(default_factory=dict)
    uses: Uses = field(default_factory=Uses)
    role: str = ""
    files: str = ""  # where `lookup('file')` reads, relative to the manifest
    templates: str = ""
    # returns the path for the manifest of a project file, from its kind and name
    locate: Callable[[Any, str, str], str] | None = None
    statements: Callable[[str, Any], str] | None = None  # converts a string with statements for ccm
    no_data: bool = False  # an entry of a hierarchy, which cannot read data
    whole: bool = False  # a whole template
    fleet: Fleet = field(default_factory=Fleet)
    play_hosts: Mapping[str, str] = field(default_factory=dict)  # names of the play's hosts
    optional: frozenset[str] = frozenset()  # arguments of a template that are none if not set

    def having(self, **changes: Any) -> Scope:
        """The same scope with changes."""
        return replace(self, **changes)

    def with_locals(self, names: Mapping[str, Sample]) -> Scope:
        """The same scope with further local names."""
        return replace(self, locals={**self.locals, **names})
