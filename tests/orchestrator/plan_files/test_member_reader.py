"""The members of a plan's text, one by one."""

import json

import pytest

from orchestrator.plan_files.member_reader import UnknownMemberError, members_of

KNOWN = {"a", "b", "c"}


@pytest.mark.parametrize(
    "text", ['{"a":1}', ' {"a" : {"x": [1, "y"]} ,\n"b":null}\n', '{"c":"}","a":[]}']
)
def test_an_object(text: str) -> None:
    """It is read as JSON is."""
    assert members_of(text, KNOWN) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "7", "{", "{}", '{"a"}', '{"a":}', '{"a":1', '{"a":1,', '{"a":1,}', '{"a":1} x',
     '{"a":1 "b":2}', '{"a":1,"a":2}', '{7:1}', "{'a':1}"],
)  # fmt: skip
def test_no_object(text: str) -> None:
    """What is not one, or has a member twice, is refused."""
    with pytest.raises(ValueError, match=r".") as refused:
        members_of(text, KNOWN)
    assert not isinstance(refused.value, UnknownMemberError)


def test_an_unknown_member() -> None:
    """What stands behind it is not read, however much that is and whatever."""
    with pytest.raises(UnknownMemberError) as refused:
        members_of('{"a": 1, "x": [1, 2', KNOWN)
    assert (refused.value.name, refused.value.at, refused.value.before) == ("x", 9, {"a": 1})
