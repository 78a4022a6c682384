"""Names in which a host had to mask a secret, as events tell them."""

import contextlib

import pytest

from orchestrator.fleet.checks import masked_names
from orchestrator.fleet.checks.event_check import EventCheck
from remote_runtime.errors import ProtocolError
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.fleet.fakes import make_event


@pytest.mark.timeout(60)
@pytest.mark.parametrize("known", [True, False])
def test_masked_names_cost_no_more_than_the_plan_is_long(known: bool) -> None:
    """A host that tells of its resources from the last one on has no plan gone through for each."""
    looked = 0

    def consists_of(name: str, pieces: list[str]) -> bool:
        nonlocal looked
        looked += 1
        return consists(name, pieces)

    consists, count = masked_names._consists_of, 4_000
    mask = Mask(["hunter22"] if known else [])
    planned = [f"exec#hunter22 {number:05d}" for number in range(count)]
    check = EventCheck("h", "r", planned=planned, mask=mask.value)
    received = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masked_names, "_consists_of", consists_of)
        with contextlib.suppress(ProtocolError):
            for seq, number in enumerate(reversed(range(count)), 1):
                told = make_event("exec", f"[masked] {number:05d}", event_id=f"{seq:026d}")
                assert check.check(seq, told).identity == planned[number]
                received += 1
    assert (received == count) == known
    assert looked <= 30 * count


def test_names_that_are_masked_alike() -> None:
    """Of names that are one behind their masks the first that is due is meant, hashes or not."""
    sha = "0123456789abcdef"
    planned = ["exec#a hunter22", "exec#a hunter23", f"exec#b {sha}", "exec#a hunter22"]
    mask = Mask(["hunter22", "hunter23"])
    check = EventCheck("h", "r", planned=planned, mask=mask.value)
    told = ["a [masked]", "a [masked]", "b [masked]", "a [masked]"]
    got = [
        check.check(seq, make_event("exec", name, event_id=f"{seq:026d}")).identity
        for seq, name in enumerate(told, 1)
    ]
    assert sorted(got) == sorted(planned)
    with pytest.raises(ProtocolError, match="not expected"):
        check.check(5, make_event("exec", "a [masked]", event_id="Z" * 26))
