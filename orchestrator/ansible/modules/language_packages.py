"""``pip`` and ``npm`` (controller)."""

import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.possible_values import elements, resolve
from orchestrator.ansible.modules.guarded_commands import shell, state_of, words
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, expression_of
from orchestrator.ansible.output.manifest_entries import Entry, slug
from orchestrator.ansible.problems import NotConvertible

_WORD = re.compile(r"[A-Za-z0-9@/._-]+(?:\[[\w,-]+\])?")
_PINNED = re.compile(r"([A-Za-z0-9._-]+)\s*==\s*([\w.+!-]+)")
_PYTHON = re.compile(r"(\S+) -m venv")
_UPGRADES = frozenset(["-U", "--upgrade"])


@maps("pip", refused="chdir umask editable virtualenv_site_packages", unless=(False,))
def pip(context: Context, arguments: Arguments) -> list[Entry]:
    """Packages of Python: in an environment, or by a command for each, unless pip knows it."""
    environment = arguments.text("virtualenv")
    if environment is not None:
        return _in_environment(context, arguments, environment)
    arguments.refuse("requirements")
    arguments.refuse("break_system_packages", unless=(False,))
    arguments.ignore("virtualenv_command", "virtualenv_python")
    program = arguments.text("executable") or "pip3"
    install = f"{program} install {arguments.text('extra_args') or ''}".strip()
    return _installed(context, arguments, install=install, test=f"{program} show -q", sign="==")


def _in_environment(context: Context, arguments: Arguments, environment: str) -> list[Entry]:
    arguments.ignore("break_system_packages")
    ensure = state_of(arguments, "present", "latest", "absent")
    common: dict[str, Any] = {"provider": "pip", "environment": environment}
    common.update(arguments.texts_by_name(python="virtualenv_python"))
    program = _PYTHON.fullmatch(arguments.text("virtualenv_command") or "")
    if program is not None and program[1] != "python3":
        common.setdefault("python", program[1])
    options = (arguments.text("extra_args") or "").split()
    if any("{{" in one for one in options):
        raise NotConvertible("extra_args in a variable")
    if _UPGRADES & set(options) and ensure == "present":
        ensure = "latest"
    options = [one for one in options if one not in _UPGRADES]
    if options:
        common["options"] = options
    requirements = arguments.text("requirements")
    if requirements is None:
        return _packages(context, arguments, common, ensure)
    arguments.refuse("name", "version")
    if not requirements.startswith(("/", "{{")) or ensure == "latest":
        raise NotConvertible("requirements whose path or version depends on the original's run")
    title = slug(context.unique(context.title(f"requirements of {environment}")))
    return [Entry("package", title, {**common, "requirements": requirements})]


@maps("npm", ignored="unsafe_perm")
def npm(context: Context, arguments: Arguments) -> list[Entry]:
    """Packages of Node.js: in a directory, or for the whole host."""
    arguments.refuse("ignore_scripts", "no_optional", "no_bin_links", "force", unless=(False,))
    if arguments.flag("global", default=False):
        return _for_the_host(context, arguments)
    arguments.refuse("executable")
    path = arguments.required("path")
    common: dict[str, Any] = {"provider": "npm", "path": path}
    if arguments.flag("production", default=False):
        common["production"] = True
    common.update(arguments.texts_by_name(index_url="registry"))
    ensure = state_of(arguments, "present", "latest", "absent")
    if arguments.flag("ci", default=False):
        arguments.refuse("name", "version")
        title = slug(context.unique(context.title(f"packages of {path}")))
        return [Entry("package", title, {**common, "ci": True})]
    if arguments.raw("name") is not None:
        return _packages(context, arguments, common, ensure)
    if ensure != "present":
        raise NotConvertible("npm without the name of a package")
    context.check("npm does this; ccm installs single packages, or all packages with ci")
    line = words(
        "npm install",
        "--omit=dev" if common.get("production") else "",
        f"--registry {common['index_url']}" if "index_url" in common else "",
    )
    test = shell(f'cd "{path}" && npm ls >/dev/null 2>&1')
    return [context.exec(f"npm install in {path}", {"command": line, "cwd": path, "unless": test})]


def _for_the_host(context: Context, arguments: Arguments) -> list[Entry]:
    program = arguments.text("executable")
    if program is not None:
        arguments.refuse("registry")
        arguments.ignore("production", "path")
        install, test = f"{program} install -g", f"{program} ls -g"
        return _installed(context, arguments, install=install, test=test, sign="@")
    arguments.ignore("production")
    arguments.refuse("path")
    common: dict[str, Any] = {"provider": "npm", "global": True}
    common.update(arguments.texts_by_name(index_url="registry"))
    ensure = state_of(arguments, "present", "latest", "absent")
    return _packages(context, arguments, common, ensure)


def _packages(
    context: Context, arguments: Arguments, common: dict[str, Any], ensure: str
) -> list[Entry]:
    """A resource for each package; for a list in a variable, one with ``foreach``."""
    names, version = arguments.raw("name"), arguments.text("version")
    if names is None:
        raise NotConvertible("not a package name")
    made = []
    for one in names if isinstance(names, list) else [names]:
        text, own = str(one), version
        pinned = _PINNED.fullmatch(text)
        if pinned is not None and common["provider"] == "pip":
            text, own = pinned[1], pinned[2]
        entry = Entry("package", "", dict(common))
        if is_template(text) and "list" in resolve(text, context.scope).all_kinds():
            _each(context, text, entry)
        else:
            entry.name = _name(context, text)
        if "[" in entry.name.partition("{{")[0]:
            raise NotConvertible(f"the package {entry.name} with extras")
        wanted = own if own and ensure == "present" else ensure
        if wanted != "present":
            entry.properties["ensure"] = wanted
        made.append(entry)
    return made


def _each(context: Context, text: str, entry: Entry) -> None:
    """A list of names in a variable."""
    known = elements(resolve(text, context.scope)).values
    plain = all(isinstance(one, str) and _WORD.fullmatch(one) and "[" not in one for one in known)
    if context.looped or not plain:
        raise NotConvertible("a list of packages in a variable")
    entry.name, entry.foreach = "{{ item }}", expression_of(text, context.scope)


def _installed(
    context: Context, arguments: Arguments, *, install: str, test: str, sign: str
) -> list[Entry]:
    state_of(arguments, "present")
    names, version = arguments.raw("name"), arguments.text("version")
    if names is None:
        raise NotConvertible("not a package name")
    context.check("a package installed in another version is kept, and an alias is not recognized")
    entries = []
    for one in names if isinstance(names, list) else [names]:
        text = _name(context, str(one))
        full = f"{text}{sign}{version}" if version else text
        properties = {"command": f"{install} {full}", "unless": f"{test} {text}", **context.user()}
        title = f"{install.split(' ')[0]}: {text}"
        entries.append(Entry("exec", context.unique(title), properties))
    return entries


def _name(context: Context, name: str) -> str:
    if not is_template(name):
        if "," in name or _WORD.fullmatch(name) is None:
            raise NotConvertible(f"the package {name}")
        return name
    sample = resolve(name, context.scope)
    if sample.all_kinds() & {"list", "map"} or elements(sample).values:
        raise NotConvertible("a list of packages in a variable")
    known = [str(one) for one in sample.values]
    if any(_WORD.fullmatch(one) is None for one in known):
        raise NotConvertible(f"the package {known[0]}")
    return text_rewriter.text(name, context.scope)
