"""``ccm studio``: the fleet and its runs in a browser (controller)."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import count, size
from orchestrator.cli.studio_extra import require_studio

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.studio.plans.plan_cache import PlanPolicy
    from orchestrator.studio.sharing.webhook import WebhookTarget
    from orchestrator.studio.web.authentication import TrustedProxy

HELP = "Serve pages that show the stored runs of a fleet and edit its manifests."
EXAMPLE = """
ccm studio -i hosts.yaml
ccm studio user add alice --auth studio.users
ccm studio --signers /etc/ccm/allowed_signers --approvals 2 --allow-push
ccm studio token add ci --state /srv/studio    # to post and read runs
ccm studio --listen 192.0.2.10:8700 --auth studio.users \\
  --tls-cert studio.pem --tls-key studio.key
"""
BELOW = ("user", "token")
_LISTEN = "127.0.0.1:8700"


def below(words: list[str]) -> tuple[str, Any] | None:
    """``ccm studio user`` and ``ccm studio token`` are separate commands."""
    if words[:1] == ["token"]:
        from orchestrator.cli import studio_token

        return "studio token", studio_token
    if words[:1] != ["user"]:
        return None
    from orchestrator.cli import studio_user

    return "studio user", studio_user


def configure(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument(
        "-i",
        "--inventory",
        metavar="FILE",
        action="append",
        help="inventory with the groups and all hosts, including those without a run; repeatable"
        " (default: the project's, else the hosts of the runs)",
    )
    parser.add_argument(
        "--state",
        metavar="DIR",
        help="state directory, with the stored runs in DIR/runs (default: this user's)",
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        help="directory with the manifests to edit (default: the directory of ccm.yaml)",
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        default=_LISTEN,
        help=f"address and port to listen on (default: {_LISTEN}); an address that other machines"
        " can reach requires --auth and TLS",
    )
    _add_access(parser)
    parser.add_argument(
        "--keep-received",
        metavar="N",
        type=count,
        default=1_000,
        help="maximum number of posted runs to store (default: 1000)",
    )
    parser.add_argument(
        "--token-space",
        metavar="BYTES",
        type=size,
        default=20 << 30,
        help="maximum total size of the stored runs of one token (default: 20G)",
    )
    _add_policy(parser)
    _add_news(parser)


def _add_access(parser: Parser) -> None:
    """Add the options for addresses, users and TLS."""
    parser.add_argument("--auth", metavar="FILE", help="users file, created by ccm studio user")
    parser.add_argument(
        "--proxy",
        metavar="ADDRESS",
        help="IP address of a proxy that logs users in; requires --auth with the roles of the"
        " users. Every program that connects from this address is trusted",
    )
    parser.add_argument(
        "--proxy-header",
        metavar="NAME",
        default="X-Remote-User",
        help="header in which the proxy names the user (default: X-Remote-User). The proxy must"
        " remove it from the requests of browsers",
    )
    parser.add_argument(
        "--tls-cert", metavar="FILE", help="TLS certificate and chain in PEM format"
    )
    parser.add_argument(
        "--tls-key", metavar="FILE", help="private key of the certificate in PEM format"
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        action="append",
        default=[],
        help="additional host name of this server; repeatable",
    )


def _add_news(parser: Parser) -> None:
    """Add the options for feeds, badges and webhooks."""
    parser.add_argument(
        "--public-badges",
        action="store_true",
        help="serve /badge.svg and /badge.json without a login",
    )
    parser.add_argument(
        "--webhook", metavar="URL", help="post each completed run to this https address, signed"
    )
    parser.add_argument(
        "--webhook-secret",
        metavar="FILE",
        help="file with mode 0600 that contains the signing secret",
    )


def _add_policy(parser: Parser) -> None:
    """Add the requirements for pushes of the project's plans."""
    parser.add_argument(
        "--signers",
        metavar="FILE",
        help="file that lists the people who may approve plans, in the allowed_signers format of "
        "ssh-keygen; must be outside the checkout (default: $CCM_SIGNERS)",
    )
    parser.add_argument(
        "--approvals",
        metavar="N",
        type=count,
        help="number of people who must approve a plan (default: 1)",
    )
    parser.add_argument(
        "--deny",
        metavar="CONDITION,...",
        action="append",
        default=[],
        help="deny plans for which one of these conditions is true, as in ccm plan check;"
        " repeatable",
    )
    parser.add_argument(
        "--allow-push",
        action="store_true",
        help="allow users with the role push to push approved plans; requires --signers",
    )


def _push_command(args: argparse.Namespace, project: Path | None) -> tuple[str, ...]:
    """The command that pushes a plan; empty unless pushes are allowed. UsageError."""
    from remote_runtime.errors import UsageError

    if not args.allow_push:
        return ()
    if not args.signers:
        hint = "set the approvers with --signers or CCM_SIGNERS"
        raise UsageError("--allow-push requires --signers", hint=hint)
    if project is None:
        hint = "start it where ccm.yaml is, or specify the directory with --project"
        raise UsageError("--allow-push requires a project with plans", hint=hint)
    from orchestrator.cli.studio_push import push_command

    return push_command()


def _policy(args: argparse.Namespace) -> PlanPolicy:
    """The policy set by the flags. UsageError."""
    import os

    from orchestrator.plan_files.conditions import parse_conditions
    from orchestrator.studio.plans.plan_cache import PlanPolicy
    from remote_runtime.errors import UsageError

    if args.approvals is not None and not args.signers:
        hint = "set the approvers with --signers or CCM_SIGNERS"
        raise UsageError("--approvals requires --signers", hint=hint)
    denied = [one for text in args.deny for one in parse_conditions(text, "--deny")]
    signers = os.path.abspath(args.signers) if args.signers else ""
    return PlanPolicy(signers, args.approvals or 1, tuple(denied))


def _proxy(address: str | None, header: str) -> TrustedProxy | None:
    """The proxy that logs users in. UsageError."""
    import ipaddress
    import re

    from orchestrator.studio.web.authentication import TrustedProxy
    from remote_runtime.errors import UsageError

    if address is None:
        return None
    try:
        ipaddress.ip_address(address)
    except ValueError as error:
        hint = "expected an IP address, such as 192.0.2.7"
        raise UsageError(f"--proxy {address[:60]}: not an IP address", hint=hint) from error
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,63}", header):
        hint = "expected a name such as X-Remote-User"
        raise UsageError(f"--proxy-header {header[:60]!r}: not a valid header name", hint=hint)
    return TrustedProxy(address, header)


def _webhook(url: str | None, secret: str | None) -> WebhookTarget | None:
    """The target of a webhook; UsageError."""
    from orchestrator.support.private_file import read_private
    from remote_runtime.errors import UsageError

    if not url and not secret:
        return None
    if not url or not secret:
        raise UsageError("--webhook and --webhook-secret require each other", hint="use both")
    from orchestrator.studio.sharing.webhook import webhook_target

    return webhook_target(url, read_private(secret, 4_096))


def _names(names: list[str]) -> tuple[str, ...]:
    """The additional host names of the server. UsageError for one that no browser can send."""
    from inventory.name_rules import host_name_fault
    from remote_runtime.errors import UsageError

    for fault in filter(None, map(host_name_fault, names)):
        raise UsageError(f"--name: {fault[0]}", hint=fault[1])
    return tuple(names)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C. UsageError."""
    from pathlib import Path

    from orchestrator.fleet.run_origin import local_user
    from orchestrator.support.state_directory import state_directory
    from remote_runtime.errors import UsageError

    require_studio()
    from orchestrator.studio.web.start import StudioOptions, run_studio

    host, port = _address(args.listen)
    project, data_dir, private = _project(args.project)
    options = StudioOptions(
        state=Path(args.state).absolute() if args.state else state_directory(),
        host=host,
        port=port,
        inventory=tuple(args.inventory or ()),
        auth=Path(args.auth) if args.auth else None,
        tls=_tls(args.tls_cert, args.tls_key),
        names=_names(args.name),
        user=local_user(),
        keep=args.keep_received,
        project=project,
        data_dir=data_dir,
        private=private,
        webhook=_webhook(args.webhook, args.webhook_secret),
        public_badges=args.public_badges,
        token_space=args.token_space,
        proxy=_proxy(args.proxy, args.proxy_header),
        policy=_policy(args),
        push_command=_push_command(args, project),
    )
    if args.state and not (options.state / "runs").is_dir():
        raise UsageError(
            f"--state {args.state}: it contains no directory named runs",
            hint="specify the directory that contains runs, such as ~/.local/state/ccm",
        )
    try:
        run_studio(options, _tell)
    except KeyboardInterrupt:
        print("ccm studio: stopped", file=sys.stderr)
    return 0


def _project(directory_flag: str | None) -> tuple[Path | None, str, tuple[str, ...]]:
    """The directory of the designer, the project's data directory, and its files with passwords.

    UsageError, InputError.
    """
    import os
    from pathlib import Path

    from orchestrator.project.discovery import project_files
    from orchestrator.project.reader import read_project
    from orchestrator.project.settings import Project
    from remote_runtime.errors import UsageError
    from remote_runtime.reporting.masking import strings_of

    if directory_flag is not None and not os.path.isdir(directory_flag):
        raise UsageError(
            f"--project {directory_flag}: there is no such directory", hint="check the path"
        )
    files = project_files(
        os.path.join(directory_flag, "site.yaml") if directory_flag is not None else ""
    )
    directory = (
        directory_flag if directory_flag is not None else files[0].directory if files else None
    )
    if directory is None:
        return None, "", ()
    read = read_project(files) if files else Project()
    data = read.settings.get("data_dir")
    private = tuple(one for one in strings_of({**read.secrets}) if os.path.isabs(one))
    return Path(directory), str(data.value) if data else "", private


def _tell(address: str) -> None:
    print(f"log in at: {address}", flush=True)


def _address(text: str) -> tuple[str, int]:
    """An address and a port; UsageError."""
    from remote_runtime.errors import UsageError

    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port == "0" or _is_port(port)):
        raise UsageError(
            f"--listen {text[:80]!r}: expected ADDRESS:PORT",
            hint=f"write an address such as {_LISTEN}",
        )
    return host, int(port)


def _is_port(text: str) -> bool:
    try:
        return count(text) < 1 << 16
    except argparse.ArgumentTypeError:
        return False


def _tls(certificate: str | None, key: str | None) -> tuple[str, str] | None:
    from remote_runtime.errors import UsageError

    if certificate and key:
        return certificate, key
    if certificate or key:
        raise UsageError("--tls-cert and --tls-key require each other", hint="use both")
    return None
