"""``apt``, ``dnf``, ``yum`` and ``package`` (controller)."""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import (
    is_template,
    only_expression,
    outputs,
    parse_expression,
    parts_of,
    path_of,
)
from orchestrator.ansible.jinja.possible_values import elements, resolve
from orchestrator.ansible.jinja.scope import Sample
from orchestrator.ansible.jinja.unparse import operand, unparse
from orchestrator.ansible.modules.guarded_commands import shell
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, expression_of, number_or_text
from orchestrator.ansible.output.manifest_entries import Entry, slug
from orchestrator.ansible.problems import NotConvertible

_STATES = {
    "present": "present", "installed": "present", "absent": "absent", "removed": "absent",
    "latest": "latest",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+:~-]*")
_MAX_NAMES = 1_000  # of one task
_VERSION_BEHIND = re.compile(
    r"[-=]\{\{[^}]*\}\}$|\{\{[^}]*[-=]'[^}]*version[^}]*\}\}", re.IGNORECASE
)
_VERSION = re.compile(
    r"(?P<name>(?:[a-z0-9.+-]|\{\{(?:(?!\}\}).)*\}\})+)"
    r"=(?P<version>(?:[\w.+:~*-]|\{\{(?:(?!\}\}).)*\}\})+)"
)
"""Matches a package and its version; parts of the version may be variables."""
_VERSIONED = re.compile(r"^(.+?)-(\d+(?:\.\d+)+)(-[\w.]+)?$")


@maps("apt", "apt_get", "aptitude", refused="fail_on_autoremove", unless=(False,))
def apt(context: Context, arguments: Arguments) -> list[Entry]:
    """Packages of apt."""
    _not_passed_on(context, arguments, "default_release", "policy_rc_d", "force",
                   "allow_unauthenticated", "allow_change_held_packages")  # fmt: skip
    _options_of_dpkg(context, arguments)
    downgrade = arguments.boolean("allow_downgrade", "allow_downgrades")
    arguments.ignore("force_apt_get", "lock_timeout", "update_cache_retries", "use",
                "update_cache_retry_max_delay", "auto_install_module_deps")  # fmt: skip
    deb = arguments.text("deb")
    if deb is not None:
        arguments.ignore("name", "pkg", "package", "state", "update_cache", "cache_valid_time",
                     "install_recommends", "upgrade", "autoremove", "purge", "only_upgrade",
                     "autoclean", "clean")  # fmt: skip
        return _deb_file(context, deb)
    cleaning = [one for one in ("autoclean", "clean") if arguments.flag(one, default=False)]
    if cleaning and arguments.raw("name", "pkg", "package") is None:
        arguments.ignore("update_cache", "cache_valid_time", "autoremove", "state")
        context.check("it runs on each push and counts as a change")
        command = {"command": f"apt-get {cleaning[0]}"}
        return [context.exec(f"apt-get {cleaning[0]}", command)]
    if _only_removes(arguments):
        arguments.ignore("state", "purge")
        test = "sh -c 'LC_ALL=C apt-get -s autoremove | grep -q ^Remv'"
        command = {"command": "apt-get -y autoremove", "onlyif": test}
        return [context.exec("apt-get autoremove", command)]
    upgrade = arguments.literal("upgrade", default="no")
    if text_rewriter.as_bool(upgrade) is not False:
        return _upgrade(context, arguments, str(upgrade))
    extra: dict[str, Any] = {}
    recommends = arguments.boolean("install_recommends", "install-recommends")
    if recommends is not None:
        extra["install_recommends"] = recommends
    if arguments.flag("purge", default=False) and arguments.raw("state") in ("absent", "removed"):
        extra["purge"] = True
    if arguments.flag("only_upgrade", default=False):
        extra["only_upgrade"] = True
    if downgrade is not None and downgrade is not False:
        extra["allow_downgrade"] = downgrade
    return _packages(context, arguments, extra, "apt")


def _only_removes(arguments: Arguments) -> bool:
    """Whether the task only removes packages that nothing needs."""
    others = ("name", "pkg", "package", "update_cache", "update-cache", "upgrade",
              "cache_valid_time")  # fmt: skip
    return arguments.flag("autoremove", default=False) and all(
        arguments.raw(one) is None for one in others
    )


def _options_of_dpkg(context: Context, arguments: Arguments) -> None:
    value = arguments.raw("dpkg_options")
    if value not in (None, "", "force-confdef,force-confold"):
        context.check(f"dpkg_options: {value} is not passed on; ccm keeps changed settings")


def _deb_file(context: Context, path: str) -> list[Entry]:
    """A package file, which is installed unless its version already is."""
    made: list[Entry] = []
    if "://" in path.split("{{")[0] or path.startswith("{{"):
        url, path = path, f"/var/cache/ccm-{slug(context.task.name or path)}.deb"
        if context.looped and url.startswith("{{") and url.count("{{") == 1:
            path = "/var/cache/{{ (" + url[2:-2].strip() + ") | basename }}"
        own = {"url": url, "owner": "root", "group": "root", "mode": "0644"}
        made.append(Entry("download", path, own))
        context.check(f"a copy of the package file is kept in {path}")
    wanted = f'"$(dpkg-deb -f {path} Package)" "$(dpkg-deb -f {path} Version)"'
    test = (
        f'set -- {wanted}; dpkg-query -W -f "\\${{Version}}" "$1" 2>/dev/null | grep -qxF -- "$2"'
    )
    command = {
        "command": f"apt-get install -y {path}",
        "unless": shell(test),
        "environment": ["DEBIAN_FRONTEND=noninteractive"],
    }
    made.append(context.exec(f"install {path}", command))
    return made


def _rpm_file(context: Context, manager: str, path: str, ensure: str) -> list[Entry]:
    """A package file or its URL, which is installed unless a package with its name already is."""
    if ensure == "absent":
        raise NotConvertible(f"the package file {path}")
    program = manager if manager in ("yum", "dnf", "zypper") else "dnf"
    name = f'"$(rpm -qp --nosignature --qf "%{{NAME}}" {path} 2>/dev/null)"'
    command = {
        "command": f"{program} install -y {path}",
        "unless": shell("rpm -q " + name),
    }
    context.check("a package installed in another version is kept")
    return [context.exec(f"install {path}", command)]


@maps("yum", "dnf", "dnf5", "package", "zypper", "pacman", "apk")
def package(context: Context, arguments: Arguments) -> list[Entry]:
    """Packages of dnf, or of the host's package manager."""
    arguments.refuse("installroot", "security", "bugfix", "download_only", "download_dir", "list",
                 "conf_file", unless=(False, []))  # fmt: skip
    _not_passed_on(
        context, arguments, "exclude", "releasever", "enablerepo",
        "disablerepo", "disable_gpg_check", "allowerasing",
        "nobest", "best", "disable_excludes", "enable_plugin", "disable_plugin", "skip_broken",
    )  # fmt: skip
    arguments.ignore("use", "use_backend", "lock_timeout", "validate_certs", "install_repoquery",
                "sslverify", "cacheonly")  # fmt: skip
    extra: dict[str, Any] = {}
    if context.task.module == "package":
        extra.update(arguments.booleans_by_name("install_recommends"))
    weak = arguments.boolean("install_weak_deps")
    if weak is not None:
        extra["install_recommends"] = weak
    if arguments.flag("update_only", default=False):
        extra["only_upgrade"] = True
    extra.update(arguments.booleans_by_name("allow_downgrade"))
    return _packages(context, arguments, extra, context.task.module)


def _not_passed_on(context: Context, arguments: Arguments, *names: str) -> None:
    """Mark options of the package manager that a resource does not have."""
    for name in arguments.others(*names, unless=(False, [])):
        context.check(f"{name}: {arguments.raw(name)} is not passed on to the package manager")


@maps("debconf", root=True, refused="unseen", unless=(False,))
def debconf(context: Context, arguments: Arguments) -> list[Entry]:
    """An answer to a question of a package, which another task installs."""
    name = arguments.required("name", "pkg")
    question = arguments.text("question", "selection", "setting")
    kind, value = arguments.text("vtype"), arguments.text("value", "answer")
    if question is None or kind is None or value is None:
        raise NotConvertible("debconf without question, type and value")
    answer = {"type": kind, "value": value}
    return [Entry("package", name, {"debconf": {question: answer}}, partial=True)]


@maps("dpkg_selections", root=True)
def dpkg_selections(context: Context, arguments: Arguments) -> list[Entry]:
    """Holds of packages."""
    selection = arguments.literal("selection")
    if selection not in ("hold", "install"):
        raise NotConvertible(f"the selection {selection}")
    context.check("the package is also installed if it is missing")
    return [Entry("package", arguments.required("name"), {"hold": selection == "hold"})]


def _upgrade(context: Context, arguments: Arguments, kind: str) -> list[Entry]:
    words = {"dist": "dist-upgrade", "full": "dist-upgrade", "safe": "upgrade", "yes": "upgrade",
             "True": "upgrade", "true": "upgrade"}  # fmt: skip
    if kind not in words:
        raise NotConvertible(f"upgrade: {kind}")
    if arguments.raw("name", "pkg", "package") is not None:
        raise NotConvertible("upgrade together with a name")
    update = arguments.flag("update_cache", default=False)
    arguments.ignore("cache_valid_time", "autoremove", "state")
    command = f"apt-get -y {words[kind]}"
    if update:
        command = f"apt-get -q update && {command}"
    context.check("the upgrade runs on each push and counts as a change")
    environment = ["DEBIAN_FRONTEND=noninteractive"]
    properties = {"command": command, "provider": "shell", "environment": environment}
    return [context.exec("upgrade all packages", properties)]


def _cache(arguments: Arguments) -> str | None:
    """``update_cache`` of ccm; None if the original does not refresh."""
    raw = arguments.raw("cache_valid_time")
    if is_template(raw):
        arguments.ignore("update_cache", "update-cache")
        return text_rewriter.text(raw, arguments.scope) + "s"
    valid = arguments.literal("cache_valid_time", default="0")
    value = arguments.raw("update_cache", "update-cache")
    wanted = False
    if value is not None:
        wanted = is_template(value) or bool(text_rewriter.as_bool(value))
    if wanted or valid not in ("0", None):
        return duration(valid or "0")
    return None


def duration(seconds: str) -> str:
    """Seconds as a duration in the form that a person would write."""
    number = number_or_text(seconds)
    if not isinstance(number, int):
        raise NotConvertible(f"the duration {seconds}")
    for size, unit in ((3600, "h"), (60, "m")):
        if number and number % size == 0:
            return f"{number // size}{unit}"
    return f"{number}s"


def _packages(
    context: Context, arguments: Arguments, extra: dict[str, Any], manager: str
) -> list[Entry]:
    cache = _cache(arguments)
    names = arguments.raw("name", "pkg", "package")
    if arguments.flag("autoremove", default=False):
        context.check("packages that are no longer needed are kept")
    if names is None or names == []:
        arguments.ignore("state")
        if cache is None:
            raise NotConvertible("not a package name")
        context.requests["cache"] = cache
        context.note(f"update_cache: {cache} on the packages below does this if they need it")
        return []
    ensure = _ensure(arguments)
    common: dict[str, Any] = dict(extra)
    wanted = cache or context.cache_valid
    if wanted and ensure != "absent":
        common["update_cache"] = wanted
    if isinstance(names, str) and not is_template(names) and "," in names:
        names = [one.strip() for one in names.split(",") if one.strip()]
    names = names if isinstance(names, list) else [names]
    if len(names) > _MAX_NAMES:
        raise NotConvertible(f"more than {_MAX_NAMES:,} packages")
    return [
        entry
        for one in names
        for entry in _named(context, one, ensure=ensure, common=common, manager=manager)
    ]


def _ensure(arguments: Arguments) -> str:
    state = arguments.raw("state")
    if state is None:
        return "present"
    if not is_template(state) and str(state) not in _STATES:
        raise NotConvertible(f"ccm has no equivalent of state {state}")
    if not is_template(state):
        return _STATES[str(state)]
    known = [one for one in arguments.sample("state").values if isinstance(one, str)]
    if any(one not in _STATES for one in known):
        raise NotConvertible(f"ccm has no equivalent of state {known[0]}")
    text = text_rewriter.text(state, arguments.scope)
    if all(_STATES[one] == one for one in known) and known:
        return text
    inner = text[2:-2].strip() if text.startswith("{{") and text.count("{{") == 1 else ""
    if not inner:
        raise NotConvertible("a computed state")
    return "{{ {'installed': 'present', 'removed': 'absent'}.get(" + inner + ", " + inner + ") }}"


def _named(
    context: Context, name: Any, *, ensure: str, common: dict[str, Any], manager: str
) -> list[Entry]:
    if not isinstance(name, (str, int, float)):
        raise NotConvertible("a name that is not text")
    name = str(name)
    if manager in ("apt", "package") and _VERSION.fullmatch(name):
        return [_with_version(context, name, ensure=ensure, common=common)]
    if not is_template(name):
        if _is_file(name):
            if name.endswith(".deb"):
                return _deb_file(context, name)
            return _rpm_file(context, manager, name, ensure)
        plain, version = split_version(name, manager)
        return [_entry(plain, version, ensure, common)]
    return _computed(context, name, ensure=ensure, common=common, manager=manager)


def _computed(
    context: Context, name: str, *, ensure: str, common: dict[str, Any], manager: str
) -> list[Entry]:
    """The packages of a name that is a template."""
    suffixed = _with_suffix(context, name) if manager == "apt" and ensure == "present" else None
    if suffixed is not None:
        plain, version = suffixed
        return [_entry(plain, version, ensure, common)]
    if manager == "apt" and ensure == "present" and _may_hold_version(context, name):
        text = operand(parse_expression(expression_of(name, context.scope)))
        version = f"{{{{ ({text} ~ '=present').split('=')[1] }}}}"
        return [_entry(f"{{{{ {text}.split('=')[0] }}}}", version, ensure, common)]
    sample = resolve(name, context.scope)
    plain = re.sub(r"\{\{.*?\}\}", "", name)
    known = [one for one in sample.values if isinstance(one, str)]
    if _is_file(plain) or (known and all(_is_file(one) for one in known)):
        path = text_rewriter.text(name, context.scope)
        if plain.endswith(".deb") or (known and known[0].endswith(".deb")):
            return _deb_file(context, path)
        return _rpm_file(context, manager, path, ensure)
    for one in _texts_in(sample):
        split_version(one, manager, templated=True)
    kinds = sample.all_kinds()
    if manager != "apt" and not _is_whole(name) and _VERSION_BEHIND.search(name):
        context.check("the name may end in a version, which ccm cannot separate from the name")
    if kinds == {"text"} and not sample.open:
        return [_entry(text_rewriter.text(name, context.scope), "", ensure, common)]
    if "{{" in name and not _is_whole(name):
        return [_entry(text_rewriter.text(name, context.scope), "", ensure, common)]
    return _listed(context, name, sample=sample, ensure=ensure, common=common)


def _with_version(context: Context, name: str, *, ensure: str, common: dict[str, Any]) -> Entry:
    """An apt package and its version, which may be a pattern or contain variables."""
    parts = _VERSION.fullmatch(name)
    assert parts is not None
    plain = text_rewriter.text(parts["name"], context.scope)
    version = text_rewriter.text(parts["version"], context.scope)
    if "*" in re.sub(r"\{\{.*?\}\}", "", parts["version"]):
        return _by_pattern(context, name=plain, version=version, ensure=ensure, common=common)
    return _entry(plain, version, ensure, common)


def _with_suffix(context: Context, name: str) -> tuple[str, str] | None:
    """The name and ``ensure`` of ``NAME{{ '=' ~ VERSION if CONDITION else '' }}``; else None."""
    parts = outputs(name) or []
    last = parts[-1] if len(parts) > 1 else None
    if not isinstance(last, nodes.CondExpr) or not _is_constant(last.expr2, ""):
        return None
    joined = last.expr1
    sign, *rest = joined.nodes if isinstance(joined, nodes.Concat) else parts_of(joined, nodes.Add)
    if not rest or not _is_constant(sign, "="):
        return None
    version = rest[0] if len(rest) == 1 else nodes.Concat(rest)
    chosen = nodes.CondExpr(last.test, version, nodes.Const("present"))
    plain = tuple(one.data if isinstance(one, nodes.TemplateData) else one for one in parts[:-1])
    written = "".join(
        one if isinstance(one, str) else "{{ " + unparse(translate(one, context.scope)) + " }}"
        for one in plain
    )
    return written, "{{ " + unparse(translate(chosen, context.scope)) + " }}"


def _may_hold_version(context: Context, name: str) -> bool:
    """Whether a name is a variable that the project sets to ``NAME=VERSION`` somewhere."""
    whole = only_expression(name)
    path = path_of(whole) if whole is not None else None
    known = context.scope.values.get(path[0], []) if path is not None and not path[1] else []
    return any(_VERSION.fullmatch(one) for one in known if isinstance(one, str))


def _is_constant(node: Any, value: str) -> bool:
    return (node is None and not value) or (isinstance(node, nodes.Const) and node.value == value)


def _by_pattern(
    context: Context, *, name: str, version: str, ensure: str, common: dict[str, Any]
) -> Entry:
    """A version pattern, which ``package`` does not support, with apt-get and a dpkg test."""
    if ensure != "present":
        raise NotConvertible(f"a version pattern with state {ensure}")
    text = f"{name}={version}"
    context.check("apt-get does this; package does not support version patterns")
    command = f"apt-get install -y {'--allow-downgrades ' if 'allow_downgrade' in common else ''}"
    if "update_cache" in common:
        command = f"apt-get -q update && {command}"
    found = f'"$(dpkg-query -W -f "\\${{Version}}" {name} 2>/dev/null)"'
    properties = {
        "command": f'{command}"{text}"',
        "provider": "shell",
        "unless": shell(f"case {found} in {version}) true ;; *) false ;; esac"),
        "environment": ["DEBIAN_FRONTEND=noninteractive"],
    }
    return context.exec(f"install {text}", properties)


def _is_file(name: str) -> bool:
    """Whether a package is specified by a file or a URL."""
    return name.startswith(("http://", "https://", "/")) and (
        name.endswith((".rpm", ".deb")) or "://" in name
    )


def _is_whole(name: str) -> bool:
    return only_expression(name) is not None


def _listed(
    context: Context, name: str, *, sample: Sample, ensure: str, common: Any
) -> list[Entry]:
    """A variable that contains a list: one resource for each element."""
    expression, kinds = expression_of(name, context.scope), sample.all_kinds()
    first = operand(parse_expression(expression))
    if context.looped:
        if kinds & {"list"}:
            raise NotConvertible("a list of packages in a loop")
        return [_entry(f"{{{{ {expression} }}}}", "", ensure, common)]
    if kinds != {"list"}:
        inner = f"({expression})" if " if " in expression else expression
        expression = f"[{inner}] | flatten"
    entry = _entry("{{ item }}", "", ensure, common)
    entry.foreach = expression
    lists = [one for one in sample.values if isinstance(one, list)]
    if any(len(one) != len(set(map(str, one))) for one in lists):
        entry.foreach = f"{first if kinds == {'list'} else expression} | unique | list"
    return [entry]


def _texts_in(sample: Sample) -> list[str]:
    found = [one for one in sample.values if isinstance(one, str)]
    found += [one for one in elements(sample).values if isinstance(one, str)]
    return found


def _entry(name: str, version: str, ensure: str, common: dict[str, Any]) -> Entry:
    if version and ensure not in ("present", "absent"):
        raise NotConvertible(f"a version with state {ensure}")
    properties: dict[str, Any] = {}
    if version and ensure == "present":
        properties = {"ensure": version, "allow_downgrade": False}  # Ansible's package managers
    elif ensure != "present":
        properties["ensure"] = ensure
    return Entry("package", name, {**properties, **common})


def split_version(name: str, manager: str, templated: bool = False) -> tuple[str, str]:
    """The name and the version of a package; NotConvertible for patterns, files and groups."""
    if name.startswith("@"):
        raise NotConvertible(f"the package group {name}")
    if "://" in name or name.startswith(("/", "./")) or name.endswith((".rpm", ".deb")):
        raise NotConvertible(f"the package file {name}")
    if re.search(r"[*?\[\]<>^ ]", name):
        raise NotConvertible(f"the package name is a pattern: {name}")
    plain, sign, version = name.partition("=")
    if sign:
        if templated:
            raise NotConvertible(f"a list of packages with versions, such as {name}")
        if "*" in version:
            raise NotConvertible(f"the version is a pattern: {name}")
        return plain, version
    if "/" in name:
        raise NotConvertible(f"the release in {name}")
    if manager not in ("apt", "package") and _VERSIONED.match(name):
        raise NotConvertible(f"{name}, which may contain a version")
    if not _NAME.fullmatch(name):
        raise NotConvertible(f"the name {name}")
    return name, ""
