"""How the hosts of a failure are selected again."""

import random
import shlex

from inventory.selection import Selector
from orchestrator.report.retry_options import RetryOptions, limit_of, retry_line


def test_the_option_picks_the_hosts_and_no_other() -> None:
    """What goes on with a failure is what -l takes, however the hosts are called."""
    chance = random.Random(7)
    names = [f"{kind}{at:02d}{tail}" for kind in ("web", "db-3-x") for at in range(40)
             for tail in ("", ".example.org")]  # fmt: skip
    for _ in range(50):
        hosts = sorted(chance.sample(names, chance.randrange(2, 20)))
        _, option = retry_line("failed", hosts, RetryOptions())
        flag, limit = shlex.split(option)
        assert flag == "-l"
        assert Selector(dict.fromkeys(names, ()), []).select(limit) == set(hosts)


def test_names_without_an_order_are_those_of_the_run() -> None:
    """A list that would fill the screen is the word for all hosts that failed, which is said."""
    hosts = [f"{chr(97 + at % 26)}-{chr(97 + at // 26)}-host" for at in range(60)]
    assert limit_of("failed", hosts, "RUN") == "run:RUN:failed"
    assert limit_of("unreachable", hosts, "RUN") == "run:RUN:unreachable"
    assert limit_of("failed", hosts) == ",".join(hosts)
    assert retry_line("failed", hosts, RetryOptions("RUN")) == (
        "→ select all failed hosts with:",
        "-l run:RUN:failed",
    )


def test_hosts_of_a_stage_go_on_with_it() -> None:
    """Stages before it are not done once more, but in a preview; where there are failures of
    several stages, or one stage alone is pushed, all of what was asked for is."""
    words = ("ccm", "push", "-i", "hosts.yaml", "release.yaml")
    there = ["web/h1", "web/h2"]
    assert retry_line("failed", there, RetryOptions("RUN", words)) == (
        "→ retry with:",
        "ccm push -l 'h[1-2]' -i hosts.yaml release.yaml --from web",
    )
    for hosts, asked in (
        (["db/h1", "web/h2"], words),
        (there, (*words[:2], "--noop", *words[2:])),
        (there, (*words[:2], "--stage", "web", *words[2:])),
    ):
        assert "--from" not in retry_line("failed", hosts, RetryOptions("RUN", asked))[1]
