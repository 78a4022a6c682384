"""``--prove`` of ``ccm import ansible``: tries out a conversion on named hosts (controller)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.cli.command_lookup import build_parser, load_command
from orchestrator.cli.messages import warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.run_output import Output, OutputOptions
from orchestrator.cli.run_request import read_request
from orchestrator.cli.shared_options import seconds
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.ansible.proof.equivalence_check import Finding, Proof
    from orchestrator.ansible.proof.playbook_run import Limits
    from orchestrator.fleet.event_bus import Subscriber
    from orchestrator.fleet.events import Event
    from orchestrator.runs.result import RunResult

FIRST = ("ansible", "ccm")


class ProofOptions(NamedTuple):
    """The options of a proof; ``limit`` has the patterns of its hosts, and ``agreed`` means that
    there is no prompt. ``step_timeout`` and ``command_timeout`` are in seconds.
    """

    prove: bool
    first: str
    limit: list[str]
    agreed: bool
    step_timeout: float
    command_timeout: float


class Converted(NamedTuple):
    """A written conversion: the ``playbooks`` with their ``inventory`` sources, the manifest
    ``site`` and its ``hosts`` file ("" for none), and the ``tasks`` of the report."""

    playbooks: Sequence[str]
    inventory: Sequence[str]
    site: str
    hosts: str
    tasks: Sequence[Mapping[str, Any]]


def add_proof(parser: Parser) -> None:
    """Add the options of a proof."""
    group = parser.add_group("proof")
    group.add_argument(
        "--prove",
        action="store_true",
        help="apply the original and the conversion to the hosts selected with -l, and list the"
        " differences; this changes the hosts",
    )
    group.add_argument(
        "--first",
        choices=FIRST,
        default=FIRST[0],
        help="the tool that configures the hosts first; the other must then find nothing to do"
        " (default: ansible)",
    )
    group.add_argument(
        "-l",
        "--limit",
        metavar="PATTERN",
        action="append",
        help="the hosts to use, from the converted inventory; required with --prove",
    )
    group.add_argument(
        "--yes", action="store_true", help="do not prompt before the proof changes hosts"
    )
    group.add_argument(
        "--step-timeout",
        metavar="DURATION",
        type=seconds,
        default=3600.0,
        help="time limit for each step of the proof, such as one run of ansible-playbook; 0 for no"
        " limit (default: 1h)",
    )
    group.add_argument(
        "--command-timeout",
        metavar="DURATION",
        type=seconds,
        default=900.0,
        help="time limit for each Ansible task and each ccm resource without its own timeout; 0 for"
        " no limit (default: 15m)",
    )


def read_proof(args: argparse.Namespace) -> ProofOptions:
    """The proof requested by the options."""
    return ProofOptions(
        prove=args.prove,
        first=args.first,
        limit=args.limit or [],
        agreed=args.yes,
        step_timeout=args.step_timeout,
        command_timeout=args.command_timeout,
    )


def check_proof(options: ProofOptions) -> None:
    """Refuse a proof that cannot begin, before anything is written. UsageError."""
    import os

    from orchestrator.ansible.proof.playbook_run import require_ansible
    from remote_runtime.errors import UsageError

    if not options.prove:
        if options.limit or options.agreed:
            raise UsageError("import ansible: -l and --yes require --prove", hint="add --prove")
        return
    if not options.limit:
        raise UsageError(
            "import ansible: --prove requires -l/--limit",
            hint="specify the hosts that may be changed, such as -l test1",
        )
    require_ansible(os.environ)
    if not (options.agreed or sys.stdin.isatty()):
        raise UsageError(
            "--prove changes hosts, and cannot prompt without a terminal",
            hint="check the hosts selected with -l, then use --yes",
        )


def run_proof(options: ProofOptions, converted: Converted) -> int:
    """Prove a conversion; returns 0 if the other tool found nothing to do, else 1."""
    from orchestrator.ansible.proof.equivalence_check import TaskMap, prove
    from orchestrator.ansible.proof.playbook_run import Limits, Playbook, run_playbook
    from orchestrator.runs.request import HostChoice
    from orchestrator.runs.wiring import select_targets
    from remote_runtime.errors import UsageError

    playbook = Playbook.of(converted.playbooks, converted.inventory)
    if not converted.hosts:
        raise UsageError("--prove requires an inventory", hint="put one next to the playbook")
    choice = HostChoice([converted.hosts], options.limit)
    hosts = [host.name for host in select_targets(choice, warn, converted.site).hosts]
    if not (options.agreed or _confirmed(hosts)):
        print("nothing was applied")
        return 1
    limits = Limits(options.step_timeout, options.command_timeout)
    output = sys.stderr.fileno()
    proof = prove(
        options.first,
        hosts,
        play=lambda check: run_playbook(playbook, hosts, check=check, limits=limits, output=output),
        site=_Pushes(converted, hosts, limits),
        tasks=TaskMap(converted.tasks, Path.cwd()),
        say=_say,
    )
    print(proof_text(proof), end="")
    return 0 if proof.holds else 1


def _say(text: str) -> None:
    print(text, flush=True)


def _confirmed(hosts: Sequence[str]) -> bool:
    from orchestrator.support.plain_text import plain

    names = ", ".join(hosts)
    many = "1 host" if len(hosts) == 1 else f"{len(hosts)} hosts"
    print(plain(f"Apply the playbook and the converted site to {many} ({names})? [y/N] "), end="")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class _Pushes:
    """Pushes the converted site as ``ccm push`` does."""

    def __init__(self, converted: Converted, hosts: Sequence[str], limits: Limits) -> None:
        self._words = ["-i", converted.hosts, "-l", ",".join(hosts), converted.site]
        self._words += [f"--timeout={limits.step:g}", f"--stall-timeout={limits.command:g}"]
        if limits.command:  # which the wait for another push would extend
            self._words.append(f"--lock-timeout={min(RunOptions().lock_timeout, limits.command):g}")

    def preview(self) -> list[dict[str, Any]]:
        """The events of a preview with fresh package lists, as Ansible used; resources may fail in
        it. ProofError.
        """
        return self._push(["--noop", "--no-diff", "--refresh-lists"], may_fail=True)

    def push(self) -> list[dict[str, Any]]:
        """The events of a push. ProofError if a resource failed."""
        return self._push(["--no-diff"], may_fail=False)

    def _push(self, flags: list[str], *, may_fail: bool) -> list[dict[str, Any]]:
        from orchestrator.ansible.proof.playbook_run import ProofError
        from orchestrator.fleet import outcome
        from orchestrator.runs.push import push

        args = build_parser("push", load_command("push")).parse([*flags, *self._words])
        request = read_request(args, "push")
        output = _Collecting(OutputOptions(quiet=True), request.run)
        result = push(request, output)
        _require_in_time(result)
        good = (outcome.OK, outcome.FAILED) if may_fail else (outcome.OK,)
        failed = any(one.outcome not in good for one in result.results)
        if failed or result.interrupted or result.faults:
            raise ProofError(
                f"ccm push{' --noop' if may_fail else ''} of the converted site failed",
                hint="see the errors above",
            )
        return output.events


def _require_in_time(result: RunResult) -> None:
    """ProofError for a host at a time limit, with the option that extends the limit."""
    from orchestrator.ansible.proof.playbook_run import ProofError
    from orchestrator.fleet import outcome

    options = {outcome.TIMED_OUT: "--step-timeout", outcome.STALLED: "--command-timeout"}
    for one in result.results:
        if one.kind in options:
            raise ProofError(
                f"ccm push on {one.host}: {one.message}",
                hint=f"find out what is taking so long on the host, or raise {options[one.kind]}",
            )


class _Collecting(Output):
    """Shows only failures, and stores the transaction events."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.events: list[dict[str, Any]] = []

    def subscribers(self, command: str, subject: str) -> list[Subscriber]:
        """Return the subscribers of a quiet run, and a subscriber that stores the events."""
        from orchestrator.fleet.event_bus import EventCallback
        from orchestrator.fleet.events import transaction_events

        def keep(event: Event) -> None:
            """Store the transaction events of an event, each with its host."""
            self.events.extend(found for found, _ in transaction_events(event))

        return [*super().subscribers(command, subject), EventCallback(keep)]


def proof_text(proof: Proof) -> str:
    """The result of a proof as text."""
    from orchestrator.support.plain_text import plain

    other = "ccm push --noop" if proof.first == "ansible" else "ansible-playbook --check"
    subject = "resources" if proof.first == "ansible" else "tasks"
    lines = [f"{other} checked {proof.checked} {subject} on {', '.join(proof.hosts)}"]
    titles = (
        ("Differences", proof.differences),
        (
            f"Unknown in {'a preview' if proof.first == 'ansible' else 'check mode'}",
            proof.unknown,
        ),
        ("Change on every run, not counted", proof.repeated),
    )
    for title, found in titles:
        if found:
            lines += ["", f"{title}:", *(line for one in found for line in _lines(one))]
    lines += ["", _verdict(proof)]
    return "".join(f"{plain(line)}\n" for line in lines)


def _verdict(proof: Proof) -> str:
    count = len(proof.differences)
    if not proof.holds:
        return f"not proved: {'1 difference' if count == 1 else f'{count} differences'}"
    subject = "resource" if proof.first == "ansible" else "task"
    unknown = len(proof.unknown)
    if not unknown:
        return "proved: nothing to do"
    many = f"1 {subject}" if unknown == 1 else f"{unknown} {subject}s"
    return f"proved: nothing to do, except for {many} that cannot be determined"


def _lines(finding: Finding) -> list[str]:
    first = finding.task or finding.resource
    lines = [f"  {finding.host}  {first}"]
    lines += [f"    {finding.resource}"] if finding.task and finding.resource else []
    return [*lines, f"    {finding.what}"]
