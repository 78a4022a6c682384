"""Modules that become a command with a test, for Apache, SELinux, npm and pip (controller)."""

from __future__ import annotations

import re

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.possible_values import elements, resolve
from orchestrator.ansible.modules.arguments import Arguments
from orchestrator.ansible.modules.context import Context, maps
from orchestrator.ansible.modules.program_modules import state_of
from orchestrator.ansible.output.entries import Entry
from orchestrator.ansible.problems import NotConvertible

_WORD = re.compile(r"[A-Za-z0-9@/._-]+(?:\[[\w,-]+\])?")


@maps("apache2_module")
def apache_module(context: Context, given: Arguments) -> list[Entry]:
    """Modules of Apache on Debian."""
    context.as_root()
    given.refuse("identifier", "ignore_configcheck", "warn_mpm_absent", unless=(False, True))
    name = given.required("name")
    present = state_of(given, "present", "absent") == "present"
    word = "a2enmod" if present else "a2dismod"
    force = " -f" if given.flag("force", default=False) else ""
    properties = {"command": f"{word} -q{force} {name}"}
    properties["unless" if present else "onlyif"] = f"a2query -q -m {name}"
    return [context.exec(f"{word} {name}", properties)]


@maps("seboolean")
def boolean_of_selinux(context: Context, given: Arguments) -> list[Entry]:
    """Booleans of SELinux."""
    context.as_root()
    given.refuse("ignore_selinux_state", unless=(False,))
    name, state = given.required("name"), given.flag("state", default=True)
    if not given.flag("persistent", default=False):
        raise NotConvertible("a boolean of SELinux that is not persistent")
    word = "on" if state else "off"
    properties = {
        "command": f"setsebool -P {name} {word}",
        "unless": f"sh -c 'getsebool {name} | grep -qw {word}'",
    }
    context.check("whether it is also set for the next boot is not tested")
    return [context.exec(f"set {name} {word}", properties)]


@maps("pip")
def pip(context: Context, given: Arguments) -> list[Entry]:
    """Python packages: a command for each, unless pip lists it."""
    given.refuse("requirements", "chdir", "umask", "editable", "virtualenv_site_packages",
                 "break_system_packages", unless=(False,))  # fmt: skip
    given.ignore("virtualenv_command", "virtualenv_python")
    environment = given.text("virtualenv")
    program = given.text("executable") or "pip3"
    if environment is not None:
        program = f"{environment}/bin/pip"
        context.check(f"the virtual environment {environment} must exist")
    options = given.text("extra_args")
    install = f"{program} install {options or ''}".strip()
    return _installed(context, given, install=install, test=f"{program} show -q", sign="==")


@maps("npm")
def npm(context: Context, given: Arguments) -> list[Entry]:
    """Packages of npm for all users: a command for each, unless npm lists it."""
    given.refuse("path", "production", "registry", "ci", "ignore_scripts", "no_optional",
                 "no_bin_links", "force", unless=(False,))  # fmt: skip
    if not given.flag("global", default=False):
        raise NotConvertible("npm in a directory")
    given.ignore("unsafe_perm")
    program = given.text("executable") or "npm"
    install, test = f"{program} install -g", f"{program} ls -g"
    return _installed(context, given, install=install, test=test, sign="@")


def _installed(
    context: Context, given: Arguments, *, install: str, test: str, sign: str
) -> list[Entry]:
    state_of(given, "present")
    names, version = given.raw("name"), given.text("version")
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
