"""``wait_for``, ``uri``, ``pause`` and ``reboot`` (controller)."""

import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import (
    Arguments,
    expression_of,
    number_or_text,
    shell_word,
)
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible


@maps("wait_for", "wait_for_connection")
def wait_for(context: Context, arguments: Arguments) -> list[Entry]:
    """Ports and paths to wait for."""
    if context.task.module == "wait_for_connection":
        arguments.ignore("timeout", "delay", "sleep", "connect_timeout")
        context.note("not needed: ccm has a connection while it runs")
        return []
    arguments.refuse("search_regex", "exclude_hosts")
    arguments.ignore("connect_timeout", "msg", "active_connection_states")
    state = arguments.literal("state", default="started")
    port, path = arguments.text("port"), arguments.text("path")
    if state in ("drained",) or (port is None and path is None):
        if port is None and path is None and arguments.raw("timeout") is not None:
            return [_sleep(context, arguments.required("timeout"))]
        raise NotConvertible(f"wait_for with state {state}")
    properties: dict[str, Any] = {}
    if state in ("stopped", "absent"):
        properties["ensure"] = "absent"
    if port is not None:
        properties["port"] = number_or_text(port)
        properties.update(arguments.texts_by_name("host"))
    else:
        arguments.ignore("host")
        properties["file"] = path
    for name, text in arguments.texts_by_name("timeout", interval="sleep").items():
        properties[name] = f"{text}s"
    made = [Entry("wait", _title(context, f"wait for {port or path}"), properties, changes=False)]
    delay = arguments.text("delay")
    if delay not in (None, "0"):
        made.insert(0, _sleep(context, str(delay)))
    return made


def _title(context: Context, fallback: str) -> str:
    return context.unique(context.title(fallback))


def _sleep(context: Context, seconds: str) -> Entry:
    number = number_or_text(seconds)
    limit = number + 30 if isinstance(number, int) else 600
    return Entry(
        "wait",
        _title(context, f"wait {seconds} s"),
        {"command": f"sleep {seconds}", "timeout": f"{limit}s"},
        changes=False,
    )


@maps("pause", refused="prompt echo")
def pause(context: Context, arguments: Arguments) -> list[Entry]:
    """A pause of a given time."""
    seconds, minutes = arguments.text("seconds"), arguments.text("minutes")
    if minutes is not None:
        number = number_or_text(minutes)
        if not isinstance(number, int):
            raise NotConvertible("a computed number of minutes")
        seconds = str(60 * number)
    if seconds is None:
        raise NotConvertible("ccm does not prompt during a run")
    return [_sleep(context, seconds)]


@maps("uri")
def uri(context: Context, arguments: Arguments) -> list[Entry]:
    """Requests that only read become a condition to wait for. Others are sent with curl."""
    method = str(arguments.literal("method", default="GET")).upper()
    if method not in ("GET", "HEAD"):
        return [_request(context, arguments, method)]
    arguments.refuse("method", unless=("GET", "HEAD"))
    arguments.refuse(
        "body", "dest", "src", "headers", "url_username", "user", "url_password", "password",
        "client_cert", "client_key", "unix_socket", "creates", "removes", "body_format",
        unless=("raw",),
    )  # fmt: skip
    arguments.refuse("follow_redirects", unless=("safe", "none", False))
    arguments.ignore("return_content", "http_agent", "force", "use_proxy", "force_basic_auth")
    if context.task.keywords.get("register") and context.task.keywords.get("until") is None:
        context.check("the response cannot be read; ccm only waits for the status")
    properties: dict[str, Any] = {"url": arguments.required("url")}
    status = arguments.raw("status_code")
    if status is not None:
        found = arguments.value("status_code")
        found = number_or_text(found) if isinstance(found, str) else found
        properties["status"] = found if isinstance(found, (list, str)) else [found]
    if arguments.flag("validate_certs", default=True) is False:
        properties["allow_insecure"] = True
    if context.task.keywords.get("until") is not None:
        _until(context, properties)
    timeout = arguments.text("timeout")
    retries, delay = context.task.keywords.get("retries"), context.task.keywords.get("delay", 5)
    if isinstance(retries, int) and isinstance(delay, int):
        properties["timeout"] = f"{max(retries * max(delay, 1), 1)}s"
        properties["interval"] = f"{max(delay, 1)}s"
    elif context.task.keywords.get("until") is None:
        properties["timeout"] = f"{timeout or 30}s"
    context.check("redirects are not followed, and a failed request is repeated until the timeout")
    return [
        Entry("wait", _title(context, f"wait for {properties['url']}"), properties, changes=False)
    ]


def _request(context: Context, arguments: Arguments, method: str) -> Entry:
    """A request that changes something: sent on each push, as the original does on each run."""
    arguments.refuse("dest", "src", "client_cert", "client_key", "unix_socket", "removes")
    arguments.ignore("return_content", "http_agent", "force", "use_proxy", "force_basic_auth",
                 "follow_redirects", "timeout")  # fmt: skip
    parts = ["curl", "--silent", "--show-error", "--location", f"--request {method}"]
    if arguments.flag("validate_certs", default=True) is False:
        parts.append("--insecure")
    headers = arguments.raw("headers") or {}
    kind = arguments.literal("body_format", default="raw")
    if not isinstance(headers, dict) or kind not in ("raw", "json"):
        raise NotConvertible("headers as text, or the body of a form")
    shown = [
        f"{key}: {text_rewriter.text(str(one), arguments.scope)}" for key, one in headers.items()
    ]
    if kind == "json" and "content-type" not in {str(one).lower() for one in headers}:
        shown.append("Content-Type: application/json")
    parts += [f"--header {shell_word(one)}" for one in shown]
    environment: list[str] = []
    user = arguments.text("url_username", "user")
    password = arguments.text("url_password", "password")
    if user is not None or password is not None:
        environment.append(f"CCM_PASSWORD={user or ''}:{password or ''}")
        parts.append('--user "$CCM_PASSWORD"')
    body = arguments.raw("body")
    if body is not None:
        environment.append(f"CCM_BODY={_body(arguments, body, kind)}")
        parts.append('--data "$CCM_BODY"')
    codes = arguments.value("status_code") or [200]
    listed = codes if isinstance(codes, list) else str(codes).split(",")
    either = "|".join(str(one).strip() for one in listed)
    target = shell_word(arguments.required("url"))
    command = (
        f"code=$({' '.join(parts)} --output /dev/null --write-out '%{{http_code}}' {target}); "
        f'echo "$code"; echo "$code" | grep -qxE \'{either}\''
    )
    context.check("curl sends the request on each push, as the original does on each run")
    properties: dict[str, Any] = {"command": command, "provider": "shell"}
    if environment:
        properties["environment"] = environment
    properties.update(arguments.texts_by_name("creates"))
    title = f"{method} {arguments.text('url')}"
    return context.exec(title, properties, sensitive=bool(environment))


def _body(arguments: Arguments, body: Any, kind: str | None) -> str:
    if isinstance(body, str) and not (
        kind == "json" and arguments.sample("body").all_kinds() & {"map", "list"}
    ):
        return text_rewriter.text(body, arguments.scope)
    return "{{ (" + expression_of(body, arguments.scope) + ") | to_json }}"


def _until(context: Context, properties: dict[str, Any]) -> None:
    """``until: x.status == 200``, which becomes the status of the condition."""
    register = str(context.task.keywords.get("register", ""))
    shown = " ".join(str(context.task.keywords["until"]).split())
    match = re.fullmatch(rf"{re.escape(register)}\.status == (\d+)", shown)
    if match is not None:
        properties["status"] = [int(match.group(1))]
    elif shown not in (f"{register} is succeeded", f"{register} is success",
                       f"{register} is not failed", f"{register}.status is defined"):  # fmt: skip
        raise NotConvertible(f"until: {shown}")


@maps("reboot", refused="reboot_command")
def reboot(context: Context, arguments: Arguments) -> list[Entry]:
    """Reboots, which require a reason."""
    arguments.ignore(
        "msg", "pre_reboot_delay", "post_reboot_delay", "test_command", "connect_timeout",
        "search_paths", "boot_time_command",
    )  # fmt: skip
    properties: dict[str, Any] = {"onlyif": "true"}  # replaced if it subscribes to a change
    timeout = arguments.text("reboot_timeout")
    if timeout is not None:
        properties["timeout"] = f"{timeout}s"
    return [Entry("reboot", _title(context, "reboot"), properties)]
