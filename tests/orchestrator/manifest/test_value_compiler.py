"""The values of a manifest with expressions in them."""

import time

from inventory.yaml_document import Mapping, Scalar, parse_document
from orchestrator.manifest.value_compiler import Locator


def scalar(spelled: str) -> Scalar:
    """The value of a one-line document."""
    node = parse_document(f"a: {spelled}\n", "site.yaml")
    assert isinstance(node, Mapping)
    ((_, found),) = node.pairs()
    assert isinstance(found, Scalar)
    return found


def test_places_of_pieces() -> None:
    """Each piece is found behind the one before it, also where they are equal."""
    locator = Locator(scalar("'{{ x }} {{ x }}'"))
    assert [locator("{{ x }}", at).column for at in (0, 8)] == [5, 13]


def test_a_piece_that_is_spelled_otherwise() -> None:
    """It gets the place of the whole value."""
    node = scalar('"{{ x[\\"a\\"] }}"')
    assert Locator(node)('{{ x["a"] }}', 0) == node.position


def test_very_many_pieces_that_are_spelled_otherwise() -> None:
    """After a while they are not looked for any more: each look reads all the rest of the line."""
    node = scalar('"' + 'x[\\"a\\"] ' * 300_000 + '"')
    locator, began = Locator(node), time.process_time()
    for at in range(300_000):
        assert locator('x["a"]', at) == node.position
    assert time.process_time() - began < 30, "it takes as long as all lengths squared"
