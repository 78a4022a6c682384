"""Templates that come to the same on all hosts are rendered once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError, Scope, Template
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.expressions.rendering_cache import HostValueRead, RenderingCache, Unreadable
from orchestrator.language.facts import Facts
from tests.orchestrator.expressions.fakes import DATA, scope
from tests.texts import expect_text

NAMES = [f"web{number}" for number in range(3)]


def view() -> InventoryView:
    return InventoryView({"web": NAMES}, {name: {"name": name, "vars": {}} for name in NAMES})


class Counting:
    """Counts how often a template is rendered with a host's own values at hand or without."""

    def __init__(self, text: str) -> None:
        self.template = Template.parse(text, lambda piece, at: None)
        self.count = 0

    def on(
        self, name: str, seen: InventoryView, directory: Path = Path("."), **changes: Any
    ) -> Any:
        def counted(turn: Scope) -> Any:
            self.count += 1
            return self.template._render(turn)

        host = {"name": name, "address": name, "groups": [], "vars": {}}
        turn = scope(directory, host=host, inventory=seen, **changes)
        return seen.renderings.render(self.template, turn, counted)


def test_what_reads_no_value_of_the_host_is_rendered_once() -> None:
    """A text that reads groups alone is rendered once for all hosts, and is the very same."""
    seen, counting = view(), Counting("# {{ Groups.web | join(' ') }}")
    first, second = (counting.on(name, seen) for name in NAMES[:2])
    assert first is second
    assert first == "# web0 web1 web2"
    assert counting.count == 1


@pytest.mark.parametrize(
    "source",
    [
        "Host.name", "Facts.host.info.os", "lookup('facts.host.info.os')", "Environ.HOME",
        "lookup('facts.none', 'default')", "lookup('facts.list.#')", "Facts | length", "Facts",
        "'host' in Facts", "Facts is defined and Facts.host is defined", "Facts | tojson",
        "[Facts] | tojson", "Host | string", "Facts ? 1 : 2", "Facts == Data", "dict(Facts)",
        "Facts.items() | list", "Facts | list", "Host ~ ''", "[Host, 1]", "Facts.get('x', 1)",
        "Groups[Host.groups[0]] | default('none')", "Environ.get('HOME')", "len(Host)",
    ],
)  # fmt: skip
def test_what_reads_the_host_is_rendered_for_each(source: str) -> None:
    """Any touch of a value that is the host's own makes it be rendered for each host as it is."""
    seen = view()
    text = f"{{{{ Groups.web | length }}}} {{{{ {source} }}}}"
    template = Template.parse(text, lambda piece, at: None)

    def on(number: int) -> None:
        facts = Facts({"host": {"info": {"os": f"os{number}"}}, "list": [number] * number}, {})
        host = {"name": f"web{number}", "groups": ["web"][:number], "vars": {"n": number}}
        turn = scope(facts=facts, host=host, inventory=seen)
        assert _outcome(template.render, turn) == _outcome(template._render, turn)

    for number in (1, 2, 0, 1):
        on(number)


def _outcome(render: Callable[[Scope], Any], turn: Scope) -> Any:
    """What comes of a rendering, or what it says is wrong."""
    try:
        return render(turn)
    except EvaluationError as error:
        return str(error)


def test_the_same_data_counts_as_the_same() -> None:
    """A text that reads data is rendered once for all hosts whose data are equal."""
    seen, counting = view(), Counting("{{ Groups.web | length }} {{ Data.port }}")
    found = [
        counting.on(name, seen, data={**DATA, "port": port})
        for name, port in zip(NAMES, (80, 80, 81), strict=True)
    ]
    assert found == ["3 80", "3 80", "3 81"]
    assert counting.count == 3  # without data in vain, then for each of both


def test_data_in_another_order_is_not_the_same() -> None:
    """The order of a map shows in a loop, so that data in another order are rendered again."""
    seen, counting = view(), Counting("{{ Groups.web | length }} {{ Data.map | join }}")
    found = [
        counting.on("web0", seen, data={"map": one}) for one in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    ]
    assert found == ["3 ab", "3 ba"]


def test_large_data_take_no_room() -> None:
    """Of the data that a rendering depends on, nothing but a digest is kept."""
    seen, counting = view(), Counting("{{ Groups.web | length }} {{ Data.text | length }}")
    counting.on("web0", seen, data={"text": "x" * 9999})
    assert len(repr(list(seen.renderings._values))) < 999


def test_each_turn_of_a_loop_has_its_own() -> None:
    """What a turn of foreach sees is a part of what decides."""
    seen = view()
    template = Template.parse(
        "{{ Groups.web | length }} {{ item }}", lambda piece, at: None, extra=("item",)
    )
    for item in ("a", "b", "a"):
        assert template.render(scope(loop={"item": item}, inventory=seen)) == f"3 {item}"


def test_a_list_is_never_shared() -> None:
    """A list or a map is made anew for each host, which may change it."""
    seen, counting = view(), Counting("{{ Groups.web }}")
    first, second = (counting.on(name, seen) for name in NAMES[:2])
    assert first == second == NAMES
    assert first is not second


def test_a_mistake_is_told_for_each_host() -> None:
    """A template that fails does so on every host, with the same words."""
    seen, counting = view(), Counting("{{ Groups.wbe | length }}")
    for name in NAMES:
        with pytest.raises(EvaluationError) as refused:
            counting.on(name, seen)
        expect_text(refused.value)


def test_it_forgets_rather_than_grows() -> None:
    """Values that take too much are not kept, and old ones go before the bound is passed."""
    cache = RenderingCache(maximum=1000)
    for name in NAMES:
        assert cache.render(name, scope(), lambda turn: "x" * 500) == "x" * 500
    assert cache.render("long", scope(), lambda turn: "x" * 2000) == "x" * 2000
    assert cache._bytes <= 1000
    assert len(cache._values) == 1


def test_nothing_of_the_unreadable_can_be_read() -> None:
    """Every way to look into the stand-in raises."""
    nothing = Unreadable()
    for look in (
        lambda: nothing["x"], lambda: "x" in nothing, lambda: len(nothing), lambda: bool(nothing),
        lambda: list(nothing), lambda: dict(nothing), lambda: {**nothing}, lambda: nothing == {},
        lambda: nothing | {}, lambda: {} | nothing, lambda: f"{nothing}", lambda: repr(nothing),
        lambda: nothing.__getattr__("x"), lambda: nothing.copy(), lambda: nothing.get("x"),
    ):  # fmt: skip
        with pytest.raises(HostValueRead):
            look()
