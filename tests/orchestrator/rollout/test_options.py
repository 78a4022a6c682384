"""How a rollout is held back, as it is kept and told."""

from orchestrator.rollout.amounts import parse_amount
from orchestrator.rollout.options import RolloutOptions
from orchestrator.rollout.shared_limits import parse_per
from orchestrator.rollout.waves import parse_waves


def test_what_was_given_is_told_as_people_write_it() -> None:
    """And no login that stands in a command."""
    options = RolloutOptions(
        waves=parse_waves("1,10%"),
        max_fail=parse_amount("5%"),
        per=(parse_per("rack=1"),),
        soak=30.0,
        before_host="curl https://me:hunter22@lb/drain",
    )
    told = options.record()
    assert options.given
    assert told.pop("before_host") == "curl https://me:[masked]@lb/drain"
    assert told == {"waves": "1,10%", "max_fail": "5%", "per": ["rack=1"], "soak": "30"}


def test_nothing_is_told_of_a_rollout_that_nothing_holds_back() -> None:
    """Which is what most runs are."""
    assert not RolloutOptions().given
    assert RolloutOptions().record() == {}
