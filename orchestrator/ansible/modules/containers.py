"""Containers, images, networks and projects of Docker (controller)."""

from orchestrator.ansible.modules.guarded_commands import by_program, state_of, word, words
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible


@maps("docker_network", "docker_image", "docker_volume")
def docker(context: Context, arguments: Arguments) -> list[Entry]:
    """Networks, images and volumes of Docker."""
    kind = context.task.module.removeprefix("docker_")
    name = arguments.required("name", "volume_name")
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("source", "tag", "force_absent")
        return by_program(context, "docker")(
            f"docker {kind} rm {shell_word(name)}",
            onlyif=f"docker {kind} inspect {shell_word(name)}",
            fallback=f"no {kind} {name}",
        )
    command = f"docker {kind} create {shell_word(name)}"
    if kind == "network":
        arguments.refuse(
            "connected",
            "ipam_config",
            "driver_options",
            "internal",
            "attachable",
            "appends",
            "enable_ipv6",
            unless=(False,),
        )
        command = words(
            "docker network create", arguments.piece("--driver ", "driver"), shell_word(name)
        )
    elif kind == "image":
        if (
            arguments.literal("source", default="pull") != "pull"
            or arguments.raw("build") is not None
        ):
            raise NotConvertible("an image that is built, loaded or local")
        arguments.refuse("push", "force_source", "pull", unless=(False,))
        tag = arguments.text("tag")
        name = f"{name}:{tag}" if tag else name
        command = f"docker pull {shell_word(name)}"
    return by_program(context, "docker")(
        command, unless=f"docker {kind} inspect {shell_word(name)}", fallback=f"{kind} {name}"
    )


@maps("docker_compose", "docker_compose_v2")
def docker_compose(context: Context, arguments: Arguments) -> list[Entry]:
    """Projects of Docker Compose."""
    arguments.refuse("definition", "scale", "profiles", "env_files", "services", unless=([],))
    arguments.ignore(
        "wait", "wait_timeout", "dependencies", "timeout", "check_files_existing", "assume_yes"
    )
    state = state_of(arguments, "present", "absent", "stopped", "restarted")
    pull = arguments.literal("pull", default="policy")
    build = arguments.literal("build", default="policy")
    recreate = arguments.literal("recreate", default="auto")
    program = words(
        "docker compose",
        f"--project-directory {word(arguments, 'project_src')}",
        arguments.piece("-p ", "project_name"),
        *[f"-f {shell_word(one)}" for one in arguments.listed("files")],
    )
    up = words(
        "up -d",
        "--pull always" if pull in ("always", "True", "yes") else "",
        "--build" if build in ("always", "True", "yes") else "",
        "--force-recreate" if recreate == "always" else "",
        "--remove-orphans" if arguments.flag("remove_orphans", default=False) else "",
    )
    volumes = "-v" if arguments.flag("remove_volumes", default=False) else ""
    line = {
        "present": up,
        "absent": words("down", volumes),
        "stopped": "stop",
        "restarted": "restart",
    }[state]
    return by_program(context, "docker")(f"{program} {line}", fallback=f"docker compose {state}")


_SETTINGS = (
    ("--hostname ", "hostname"), ("--user ", "user"), ("--restart ", "restart_policy"),
    ("--network ", "network_mode"), ("--memory ", "memory"), ("--workdir ", "working_dir"),
    ("--entrypoint ", "entrypoint"), ("--log-driver ", "log_driver"), ("--pid ", "pid_mode"),
)  # fmt: skip
_LISTS = (
    ("-p", ("published_ports", "ports")),
    ("-v", ("volumes",)),
    ("--expose", ("exposed_ports", "expose")),
    ("--cap-add", ("capabilities",)),
    ("--link", ("links",)),
)
_IGNORED = (
    "pull", "recreate", "comparisons", "container_default_behavior", "keep_volumes", "cleanup",
    "force_kill", "networks_cli_compatible", "detach", "purge_networks", "image_name_mismatch",
    "stop_timeout", "timeout",
)  # fmt: skip


@maps("docker_container")
def docker_container(context: Context, arguments: Arguments) -> list[Entry]:
    """Containers, which are created once."""
    arguments.ignore(*_IGNORED)
    name = word(arguments, "name")
    state = state_of(arguments, "started", "present", "absent", "stopped")
    there = f"docker container inspect {name}"
    running = "{{ '{{' }}.State.Running}}"
    runs = f'docker container inspect -f "{running}" {name} | grep -q true'
    if state in ("absent", "stopped"):
        arguments.ignore(*arguments.names())
        line = f"docker rm -f {name}" if state == "absent" else f"docker stop {name}"
        test = there if state == "absent" else runs
        title = f"{state}: container {name}"
        return by_program(context, "docker")(line, onlyif=test, fallback=title)
    verb = "docker run -d" if state == "started" else "docker create"
    line = words(
        verb, f"--name {name}", *_options(arguments), word(arguments, "image"), _command(arguments)
    )
    context.check("the container is created once; later changes of its settings do not recreate it")
    start = f"{there} >/dev/null 2>&1 && docker start {name} || {line}"
    line, test = (start, runs) if state == "started" else (line, there)
    return by_program(context, "docker")(line, unless=test, fallback=f"container {name}")


def _options(arguments: Arguments) -> list[str]:
    parts = [arguments.piece(option, key) for option, key in _SETTINGS]
    parts += ["--privileged" if arguments.flag("privileged", default=False) else ""]
    for option, names in _LISTS:
        if arguments.raw(*names) is None:
            continue
        listed = arguments.texts(*names)
        if not isinstance(listed, list):
            raise NotConvertible(f"{names[0]} from a variable")
        parts += [f"{option} {shell_word(one)}" for one in listed]
    for option, key in (("-e", "env"), ("-l", "labels")):
        value = arguments.value(key)
        if value is not None and not isinstance(value, dict):
            raise NotConvertible(f"{key} from a variable")
        parts += [f"{option} {shell_word(f'{k}={v}')}" for k, v in (value or {}).items()]
    networks = arguments.raw("networks") or []
    if not isinstance(networks, list) or len(networks) > 1:
        raise NotConvertible("several networks")
    return [
        *parts,
        *(
            f"--network {shell_word(str(one.get('name')))}"
            for one in arguments.value("networks") or []
        ),
    ]


def _command(arguments: Arguments) -> str:
    command = arguments.raw("command")
    if isinstance(command, list):
        return " ".join(shell_word(str(one)) for one in arguments.value("command"))
    return arguments.text("command") or ""
