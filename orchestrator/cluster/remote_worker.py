"""The process that acts for the controller on a worker, for some hosts of one run (worker).

    python -m orchestrator.cluster.remote_worker FD DIRECTORY

``FD`` is a socket to the relay that started it, ``DIRECTORY`` one of its own. It works there in a
copy of the site's files, with the controller's paths below one directory. Reports use the
controller's paths.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

from orchestrator.cluster import frames
from orchestrator.cluster.bundle import unpack
from orchestrator.cluster.run_spec import Recipe, RunSpec, remote_host
from orchestrator.cluster.sealed_channel import SealedChannel
from orchestrator.cluster.sealing import KeyPair, open_content
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.fleet.engine import Job
from orchestrator.fleet.open_file_limit import raise_limit
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.image import build
from orchestrator.manifest import load_site
from orchestrator.plan_files.binding import BoundPlanner
from orchestrator.plan_files.plan_file import PlanFile
from orchestrator.plan_files.writer import PlanWriter
from orchestrator.planning import Planner, PlanOptions
from orchestrator.planning.commands.fact_request import FactRequest
from orchestrator.planning.commands.fleet_command import CommandSpec, FleetCommand
from orchestrator.planning.host_secrets import HostSecrets
from orchestrator.planning.staged_preview import EarlierStage, HostPlanner, StagedPlanner
from orchestrator.sources.archives import Archives
from orchestrator.support.crash_report import describe_crash
from orchestrator.support.state_directory import state_directory
from orchestrator.transport import Connector, Credentials, Settings
from orchestrator.transport.credentials import BECOME_PASSWORD
from orchestrator.workers.worker import serve
from remote_runtime.errors import CcmError

_FILES = ("hiera", "facts")  # of ``PlanOptions``: names of files


class WorkDirectory:
    """The working directory of the process, removed when it ends."""

    def __init__(self, directory: str) -> None:
        self.root = os.path.realpath(directory)

    def furnish(self, site: bytes, directory: str) -> None:
        """Unpack the site's files there, and change to the user's directory. CcmError."""
        try:
            unpack(site, Path(self.root))
            here = self.place(directory)
            os.makedirs(here, exist_ok=True)
            os.chdir(here)
        except (OSError, ValueError) as error:
            raise CcmError(f"cannot write the files of the site to {self.root}: {error}") from error

    def place(self, path: str) -> str:
        """The local path of a file of the controller; a relative path is unchanged."""
        return f"{self.root}{path}" if path.startswith("/") else path

    def told(self, text: str) -> str:
        """Return a string with local paths replaced by the controller's paths."""
        return text.replace(self.root, "")

    def leave(self) -> None:
        """Remove the directory."""
        os.chdir("/")
        shutil.rmtree(self.root, ignore_errors=True)


def planners(
    spec: RunSpec, work_directory: WorkDirectory
) -> tuple[list[Planner], list[Job], dict[str, bytes]]:
    """The planners, the jobs, and the custom types of sites. CcmError."""
    if not spec.recipes[0].manifest:
        return _command(spec, work_directory)
    made: list[Planner] = []
    jobs: list[Job] = []
    types: dict[str, bytes] = {}
    before: list[EarlierStage] = []
    secrets: HostSecrets | None = None
    seen = spec.inventory
    view = InventoryView.of_record(seen) if seen is not None else None
    for recipe in spec.recipes:
        data = {
            **recipe.data,
            **{n: list(map(work_directory.place, recipe.data[n])) for n in _FILES},
        }
        data["data_dir"] = work_directory.place(recipe.data["data_dir"])
        data["archives"] = {
            url: (work_directory.place(directory), name)
            for url, (directory, name) in data["archives"].items()
        }
        options = PlanOptions(**{**data, "environ": spec.environ, "run": spec.options})
        archives = Archives(contact=False, known=options.archives)
        site = load_site(work_directory.place(recipe.manifest), archives=archives)
        planner = Planner(site, options)
        if view is not None:
            planner.see(view)
        settings = _settings(spec, recipe)
        binder: Any = planner
        if recipe.stage:
            secrets = planner.host_secrets = HostSecrets(secrets)
            if spec.options.noop:
                binder = StagedPlanner(planner, tuple(before))
                hosts = frozenset(recipe.hosts)
                before.append(EarlierStage(recipe.stage, hosts, planner, recipe.identity))
        made.append(planner)
        jobs.append(Job(binder, settings))
        types.update(site.types.sources())
    return made, _bound(spec, made, jobs), types


def _settings(spec: RunSpec, recipe: Recipe) -> RunSettings:
    return RunSettings(
        run_id=spec.run_id,
        user=spec.user,
        options=spec.options,
        manifest=recipe.identity,
        origin=Origin.from_record(spec.origin),
        key=spec.receipts,
    )


def _bound(spec: RunSpec, made: list[Planner], jobs: list[Job]) -> list[Job]:
    """The jobs of a run that writes or applies a plan file."""
    stages = [recipe.stage for recipe in spec.recipes]
    if spec.making:
        maker = PlanWriter(made[0], made, key=spec.making)
        if not stages[0]:
            return [Job(maker, jobs[0].settings)]
        binders: list[Any] = [
            maker.of_stage(stage, cast("HostPlanner", job.planner))
            for stage, job in zip(stages, jobs, strict=True)
        ]
    elif spec.held is not None:
        plan_file = PlanFile(dict(spec.held))
        binders = [
            BoundPlanner(one, plan_file, stage=stage)
            for one, stage in zip(made, stages, strict=True)
        ]
    else:
        return jobs
    return [Job(one, job.settings) for one, job in zip(binders, jobs, strict=True)]


def _command(
    spec: RunSpec, work_directory: WorkDirectory
) -> tuple[list[Planner], list[Job], dict[str, bytes]]:
    """The same for a command or a request for facts, which are not manifests."""
    recipe = spec.recipes[0]
    if not recipe.data:
        return [], [Job(FactRequest(), _settings(spec, recipe))], {}
    said = CommandSpec(**recipe.data)
    script = said.script and work_directory.place(said.script)
    command = FleetCommand.of(said._replace(words=tuple(said.words), script=script))
    return [], [Job(command, _settings(spec, recipe))], {}


def connector(spec: RunSpec, types: Mapping[str, bytes]) -> Connector:
    """The connector with the keys of this worker; the become password comes from the controller."""
    access = spec.access
    environ = {name: text for name, text in os.environ.items() if BECOME_PASSWORD not in name}
    if access.become_password is not None:
        environ[BECOME_PASSWORD] = access.become_password
    settings = Settings(
        {name: remote_host(record) for name, record in spec.hosts.items()},
        user=access.user,
        become=access.become,
        connect_timeout=access.connect_timeout,
        inventory=access.inventory,
    )
    made = Connector(settings, Credentials(environ=environ), build(types))
    made.prepare([])
    return made


class _Readiness(NamedTuple):
    """The result of the preparations before the first host."""

    spec: RunSpec
    made: list[Planner]
    jobs: list[Job]
    connector: Connector


def _ready(channel: SealedChannel, work_directory: WorkDirectory) -> _Readiness:
    """Greet the controller, receive the run spec, and prepare the run. CcmError."""
    start = json.loads((channel.receive_data() or b"")[1:])
    keys = KeyPair()
    channel.box = keys.box(bytes.fromhex(start["key"]), start["run"], leads=False)
    channel.listen()
    channel.put(frames.HELLO, keys.public)
    spec = RunSpec.of(json.loads(channel.receive() or ""))
    channel.put(frames.BUNDLE, spec.bundle.encode())
    work_directory.furnish(open_content(bytes.fromhex(spec.key), channel.bundle()), spec.directory)
    made, jobs, types = planners(spec, work_directory)
    raise_limit(spec.access.at_once)
    return _Readiness(spec, made, jobs, connector(spec, types))


def _beat(channel: SealedChannel) -> None:
    """Send a heartbeat to the relay each second; exit if the relay is silent."""
    while time.monotonic() - channel.last_received < frames.SILENCE:
        with contextlib.suppress(OSError):
            channel.put(frames.BEAT)
        time.sleep(frames.HEARTBEAT_INTERVAL)
    os._exit(75)  # others have its hosts by now


def _work(channel: SealedChannel, work_directory: WorkDirectory) -> None:
    try:
        ready = _ready(channel, work_directory)
    except CcmError as error:
        hint = f"; {error.hint}" if error.hint else ""
        channel.send("!" + json.dumps(f"the worker cannot run: {error.message}{hint}"))
        return
    serve(
        channel,
        ready.jobs,
        hosts=channel.hosts,
        connector=ready.connector,
        planners=ready.made,
        package_metadata=PackageMetadataCache(state_directory() / "packages"),
        failed=_crash,
        dear=True,
    )


def _crash(error: BaseException) -> NoReturn:
    describe_crash(error, "work of a worker")
    os._exit(70)


def _leave_on_signal(work_directory: WorkDirectory) -> None:
    """Remove the directory and exit on SIGTERM and SIGHUP, even if the main thread waits.

    Python runs a signal handler only when the main thread executes Python code. If the signal
    arrives just before the thread blocks, that may never happen, so a separate thread reads the
    signal number.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)

    def leave() -> NoReturn:
        """Wait for the signal."""
        number = os.read(reading, 1)[0]
        work_directory.leave()  # ending a complete service at once ends the relay, too
        os._exit(128 + number)

    threading.Thread(target=leave, daemon=True).start()


def main() -> NoReturn:
    """Act for the controller until it closes the connection, or until the relay is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work_directory = WorkDirectory(sys.argv[2])
    _leave_on_signal(work_directory)
    code = 0
    try:
        channel = SealedChannel(socket.socket(fileno=int(sys.argv[1])), work_directory.told)
        threading.Thread(target=_beat, args=(channel,), daemon=True).start()
        with contextlib.suppress(EOFError, OSError):
            _work(channel, work_directory)
    except Exception as error:  # a defect: its report and exit code 70 show it
        describe_crash(error, "work of a worker")
        code = 70
    finally:
        work_directory.leave()
        os._exit(code)  # with all that it is connected to


if __name__ == "__main__":
    main()
