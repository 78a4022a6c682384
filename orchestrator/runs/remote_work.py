"""Prepares a push for the workers of a Dask scheduler (controller)."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.sources.address import is_url
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.cluster.dask_engine import DaskEngine
    from orchestrator.cluster.run_spec import Access, Recipe, RunSpec
    from orchestrator.runs.engine_choice import EngineSpec
    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.wiring import TargetSelection


_ELSE = "use --engine threads or processes, which overrides CCM_ENGINE"


def require_dask(what: str) -> None:
    """UsageError if Dask is not installed."""
    if find_spec("distributed") is None:
        raise UsageError(f"{what} requires Dask", hint="pip install 'ccm-push[dask]'")


class RemoteWork:
    """A push in the form that workers need. ``warn`` shows a warning to the user."""

    def __init__(
        self,
        push: "PushJob",
        request: "RunRequest",
        chosen: "TargetSelection",
        warn: "Callable[[str], None]",
    ) -> None:
        self._push = push
        self._request = request
        self._chosen = chosen
        self._warn = warn

    def engine(self, scheduler: str, spec: "EngineSpec") -> "DaskEngine":
        """The engine for the scheduler at ``HOST:PORT``, which has responded. UsageError."""
        from orchestrator.cluster import certificates
        from orchestrator.cluster.dask_engine import DaskEngine
        from orchestrator.cluster.remote_link import RunBundle
        from orchestrator.cluster.scheduler_client import SchedulerClient

        where, security = certificates.protected(scheduler, "client")
        bundle = RunBundle(*self._run_spec(spec))
        post = SchedulerClient(where, security, bundle.run_id)
        try:
            _check_members(post.members(), where)
            return DaskEngine(post, bundle, spec.jobs, spec.planners)
        except BaseException:
            post.close()
            raise

    def _run_spec(self, spec: "EngineSpec") -> "tuple[RunSpec, bytes]":
        import hashlib

        from orchestrator.cluster.bundle import pack
        from orchestrator.cluster.private_files import PrivateFiles, omission_note
        from orchestrator.cluster.run_spec import RunSpec
        from orchestrator.cluster.sealing import seal_content

        directories, named = self._files()
        private = PrivateFiles(self._left_out())
        site = pack(directories, named, private=private)
        warning = omission_note(private.left_out, directories)
        if warning:
            self._warn(warning)
        key, sealed = seal_content(site)
        settings = spec.jobs[0].settings
        run_spec = RunSpec(
            run_id=settings.run_id,
            user=settings.user,
            options=self._request.run,
            recipes=tuple(self._recipes()),
            access=self._access(spec),
            directory=os.getcwd(),
            environ=_environ(site),
            hosts=self._jumps(),
            bundle=hashlib.sha256(sealed).hexdigest(),
            key=key.hex(),
            origin=settings.origin.record(),
            receipts=settings.key,
            inventory=self._inventory(site),
            **self._binding(),
        )
        return run_spec, sealed

    def check(self) -> None:
        """Refuse options that workers do not support, before any password prompt. UsageError."""
        require_dask("--engine dask://...")
        try:
            os.getcwd()
        except OSError as error:
            raise UsageError(
                f"the current directory cannot be read: {error.strerror}",
                hint="change to an existing directory",
            ) from error
        source = _login_password(self._request.connection.ask_pass)
        if source:
            raise UsageError(
                f"{source}: login passwords are not sent to workers",
                hint=f"omit it, so that workers log in with their own keys; or {_ELSE}",
            )
        from orchestrator.planning import Planner
        from orchestrator.planning.commands.fact_request import FactRequest
        from orchestrator.planning.commands.fleet_command import FleetCommand

        for push in self._push.pushes:
            manifest = isinstance(push.planner, Planner) and push.data is not None
            if not (manifest or isinstance(push.planner, FleetCommand | FactRequest)):
                raise UsageError(
                    f"ccm {push.command} is not supported with --engine dask",
                    hint=_ELSE,
                )

    def _files(self) -> "tuple[list[Path], list[Path]]":
        """The directories of the manifests, and files with literal names.

        If all files that a manifest reads have literal names, nothing else in its directory is
        sent.
        """
        directories: list[Path] = []
        named: list[Path] = []
        for push in self._push.pushes:
            planner: Any = push.planner
            if push.data is None:
                named += planner.files()
                continue
            paths = (*push.data.hiera, *push.data.facts)
            named += [Path(path) for path in paths if not is_url(path)]
            named += planner.files()
            directories += [
                Path(one.directory) for one in planner.site.children.archives.known().values()
            ]
            if push.data.data_dir or push.data.hiera or planner.reach() is None:
                directories.append(planner.site.path.parent)
                directories += [Path(push.data.data_dir)] if push.data.data_dir else []
        return directories, named

    def _recipes(self) -> "Iterator[Recipe]":
        from orchestrator.cluster.run_spec import Recipe

        for push in self._push.pushes:
            planner: Any = push.planner
            if push.data is None:
                yield Recipe("", planner.record())
                continue
            if planner.sealed_data:
                raise UsageError(
                    f"--hiera {planner.sealed_data[0]} is encrypted, and keys are not sent to "
                    "workers",
                    hint="put it into the data directory, read values with secret(), or use "
                    "another --engine",
                )
            data = push.data._asdict()
            del data["run"], data["environ"]
            data["archives"] = planner.site.children.archives.known()
            # Workers get the content and request the values. Keys never leave this machine.
            data.update(contact=False, nats=None, secret_keys=None, secrets_elsewhere=True)
            yield Recipe(str(planner.site.path), data, push.identity, *self._stage_of(push))

    def _stage_of(self, push: "PushJob") -> "tuple[str, tuple[str, ...]]":
        for stage in self._push.stages:
            if stage.push is push:
                noop = self._request.run.noop
                return stage.name, tuple(host.host.name for host in stage.hosts) if noop else ()
        return "", ()

    def _binding(self) -> "dict[str, Any]":
        """The members of the run that bind it to a plan file; {} without one."""
        from orchestrator.plan_files.binding import BoundPlanner
        from orchestrator.plan_files.writer import PlanWriter

        binder = self._push.binder
        if isinstance(binder, PlanWriter):
            return {"making": binder.key}
        if isinstance(binder, BoundPlanner):
            return {"held": binder.plan_file.record}
        return {}

    def _access(self, spec: "EngineSpec") -> "Access":
        from orchestrator.cluster.run_spec import Access

        connection = self._request.connection
        return Access(
            user=connection.user,
            become=connection.become,
            connect_timeout=connection.connect_timeout,
            inventory=self._chosen.files,
            become_password=spec.connector.become_password(),
            at_once=min(spec.forks, len(spec.hosts)),
        )

    def _inventory(self, site: bytes) -> "dict[str, Any] | None":
        """The variables of all hosts for the templates of the site; None if no file uses them."""
        manifest = self._push.pushes[0].data is not None
        if not manifest or not (b"Groups" in site or b"Hosts" in site):
            return None
        planner: Any = self._push.pushes[0].planner
        record: dict[str, Any] = planner.inventory.record()
        return record

    def _jumps(self) -> "dict[str, Any]":
        """The hosts of the inventory through which others are reached, including their own jump
        hosts.
        """
        from orchestrator.cluster.run_spec import host_record
        from orchestrator.transport.connection_settings import hop_names

        hosts = self._chosen.inventory.hosts
        jumps: dict[str, Any] = {}
        pending: list[Any] = list(self._chosen.hosts)
        while pending:
            for name in hop_names(pending.pop().jump):
                if name in hosts and name not in jumps:
                    jumps[name] = host_record(hosts[name])
                    pending.append(hosts[name])
        return jumps

    def _left_out(self) -> "set[Path]":
        """Files and directories in the directory of a site that belong to the controller."""
        from orchestrator.cluster.certificates import VARIABLE, default_directory

        tls = str(os.environ.get(VARIABLE) or default_directory())
        hosts = (*self._chosen.inventory.hosts.values(), *self._chosen.hosts)
        keys = {host.key_file for host in hosts if host.key_file}
        for push in self._push.pushes:
            secrets = push.data.secret_keys if push.data is not None else None
            keys |= set(secrets.files()) if secrets is not None else set()
        return {Path(os.path.abspath(path)) for path in (*keys, *self._chosen.files, ".env", tls)}


def _login_password(ask_pass: bool) -> str:
    """Return the option that sets a login password; "" without one."""
    from orchestrator.transport.credentials import COMMAND_SUFFIX, SSH_PASSWORD

    if ask_pass:
        return "--ask-pass"
    names = (SSH_PASSWORD, SSH_PASSWORD + COMMAND_SUFFIX)
    return next((name for name in names if os.environ.get(name)), "")


def _environ(site: bytes) -> "dict[str, str]":
    """The environment variables whose names occur in the files of a site."""
    from orchestrator.planning.plan_options import load_environ

    environ = load_environ()
    return {name: value for name, value in environ.items() if os.fsencode(name) in site}


def _check_members(members: "Sequence[Any]", where: str) -> None:
    """UsageError if no worker has the same version of ccm."""
    from orchestrator.cluster.worker_info import code_version

    if not members:
        raise UsageError(
            f"--engine: the scheduler {where} has no ccm workers",
            hint=f"start one with ccm worker --scheduler {where.partition('://')[2]}",
        )
    if all(member.code != code_version() for member in members):
        raise UsageError(
            f"--engine: no worker runs the same ccm as this machine ({code_version()}): "
            f"{members[0].address} is {members[0].code}",
            hint="install the same version on the workers, then restart them",
        )
