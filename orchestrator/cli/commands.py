"""Finds a command's module and builds its parser (controller)."""

import argparse
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from orchestrator.project.settings import (
    ROLLOUT,
    SETTINGS,
    ConfigScope,
    Project,
    ResolvedOption,
    resolve_options,
)
from remote_runtime.errors import UsageError
from remote_runtime.text.nearest import nearest

if TYPE_CHECKING:
    from orchestrator.secrets.key_sources import KeySources

ANSIBLES = {
    "--check": "use --noop for a preview",
    "-C": "use --noop for a preview",
    "--dry-run": "use --noop for a preview",
    "--diff": "diffs are shown by default; --no-diff hides them",
    "-D": "diffs are shown by default; --no-diff hides them",
    "-t": "use --tags NAME",
    "--skip-tags": "use --tags=-NAME",
    "--extra-vars": "use --data KEY=VALUE, or --hiera FILE for a data file",
    "-e": "use --data KEY=VALUE, or --hiera FILE for a data file",
    "--private-key": "set key_file in the inventory",
    "--become-user": "use --become=USER",
    "-b": "use --become",
    "-K": "use --ask-become-pass",
    "-k": "use --ask-pass",
    "-u": "use --user NAME",
    "-f": "use --forks N",
    "--syntax-check": "use ccm validate MANIFEST",
    "--list-hosts": "use ccm inventory -l PATTERN",
}
"""Replacements for options of ansible-playbook."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Wraps sentences; indented text, such as an example, is not changed."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        lines = text.splitlines()
        return "\n".join(
            line if line.startswith(" ") else textwrap.fill(line, width) for line in lines
        )


class _Actions(argparse._SubParsersAction):  # type: ignore[type-arg]  # generic in the stubs only
    """The actions of a command; each action refuses unknown options."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        chosen = self.choices.get(values[0])
        if chosen is not None and chosen.intermixed:
            setattr(namespace, self.dest, values[0])
            chosen.parse_intermixed_args(values[1:], namespace)
            return
        super().__call__(parser, namespace, values, option_string)
        unknown = vars(namespace).pop(argparse._UNRECOGNIZED_ARGS_ATTR, None)
        if unknown:
            self.choices[values[0]].error(f"unrecognized arguments: {' '.join(unknown)}")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are UsageErrors, and that does not accept abbreviations."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", _Help)
        # Until there is help to show: to look for the terminal's loads what most runs do not need.
        self._width: int | None = 80
        super().__init__(**settings)
        self.register("action", "parsers", _Actions)
        self.intermixed = False
        self._of_positionals: list[tuple[argparse.Action, Any]] = []
        self.missing: dict[str, str] = {}
        """Options that users may expect but that do not exist, each with a hint."""
        self.offered: dict[str, dict[str, str]] = {}
        """Common values of positional arguments, each with its meaning, for completion."""
        self.config_scope: Callable[[argparse.Namespace], ConfigScope] = _config_scope

    def format_help(self) -> str:
        self._width = None
        for action, default in self._of_positionals:
            action.default = default
        return super().format_help()

    def format_usage(self) -> str:
        self._width = None
        return super().format_usage()

    def _get_formatter(self) -> argparse.HelpFormatter:
        return self.formatter_class(
            self.prog,
            width=self._width,  # type: ignore[call-arg]  # the stubs have only the program's name
        )

    def parse(self, words: list[str]) -> argparse.Namespace:
        """Parse the words, and complete them from the environment and the project file.

        ``intermixed`` allows options between positional arguments. InputError for the project file.
        """
        args = self.parse_intermixed_args(words) if self.intermixed else self.parse_args(words)
        self._settle(args)
        return args

    def _settle(self, args: argparse.Namespace) -> None:
        """Set each setting without a flag to its value from the environment or the project."""
        flags = {one.name: getattr(args, one.name) for one in SETTINGS if hasattr(args, one.name)}
        if not flags:
            return
        config_scope = self.config_scope(args)
        project = _project(config_scope.manifest)
        args.resolved = resolve_options(flags, project.settings, os.environ, config_scope.without)
        args.resolved.update(self._rollout(args, project))
        vars(args).update({name: one.value for name, one in args.resolved.items()})
        if hasattr(args, "history_token"):
            args.history_token = project.history_token
        if hasattr(args, "secret_keys"):
            args.secret_keys = _keys(project)
        if getattr(args, "inventory_required", False) and args.inventory is None:
            raise UsageError(
                f"{self.prog.removeprefix('ccm ')}: -i/--inventory is required",
                hint="set it with -i, CCM_INVENTORY or the project's ccm.yaml",
            )
        if getattr(args, "limit_required", False) and args.limit is None:
            raise UsageError(
                f"{self.prog.removeprefix('ccm ')}: -l/--limit is required",
                hint="select hosts, such as -l web; -l all selects every host of the inventory",
            )

    def _rollout(self, args: argparse.Namespace, project: Project) -> dict[str, ResolvedOption]:
        """The options of a rollout, for a command that has them."""
        if not hasattr(args, ROLLOUT):
            return {}
        from orchestrator.cli.named_rollouts import resolve_rollout

        groups = (one for one in self._action_groups if one.title == ROLLOUT)
        actions = [action for one in groups for action in one._group_actions]
        options = [action for action in actions if action.dest != ROLLOUT]
        return resolve_rollout(getattr(args, ROLLOUT), project, options, vars(args))

    passes_on = ""
    """The argument that receives the words after ``--``. If set, options may also appear between
    positional arguments.
    """

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like argparse, except for arguments that are passed to another program."""
        if not self.passes_on:
            return super().parse_args(args, namespace)
        words = list(args or ())
        at = words.index("--") if "--" in words else len(words)
        parsed = self.parse_intermixed_args(words[:at], namespace)
        setattr(parsed, self.passes_on, words[at + 1 :])
        return parsed

    def parse_known_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like argparse, which interprets its usage text as a format string, so a % in it is kept.

        argparse temporarily removes the defaults of positional arguments, which the help must show.
        """
        self._of_positionals = [(one, one.default) for one in self._get_positional_actions()]
        if self.usage is None:
            self.usage = self.format_usage().removeprefix("usage: ").replace("%", "%%")
        return super().parse_known_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, with the most similar option for a misspelled one."""
        hint = f"see '{self.prog} --help'"
        if message.startswith("unrecognized arguments: -"):
            word = message.split()[2].split("=")[0]
            guess = nearest(word, self._option_string_actions)
            if self.passes_on:
                hint = "put arguments that are not for ccm after --"
            hint = f"did you mean {guess}?" if guess else hint
            if "--noop" in self._option_string_actions:
                hint = ANSIBLES.get(word, hint)
            hint = self.missing.get(word, hint)
            message = f"unknown option {word[:60]}"
        elif message.startswith("argument -") and message.endswith(": expected one argument"):
            spellings = message.split()[1].rstrip(":").split("/")
            option = next((o for o in spellings if o.startswith("--")), spellings[0])
            hint = f"write a value that starts with - as {option}=VALUE"
        raise UsageError(f"{self.prog.removeprefix('ccm ')}: {message}", hint=hint)


def _keys(project: Project) -> "KeySources":
    """The keys of secrets, which prompt for values that no file contains."""
    from orchestrator.cli.prompts import terminal_secret
    from orchestrator.secrets.key_sources import key_sources

    keys = key_sources(project.secrets, project.directory, os.environ)
    return keys._replace(prompt=terminal_secret())


def _config_scope(args: argparse.Namespace) -> ConfigScope:
    """The directory of a command; a command for this host reads an inventory only with ``-l``."""
    this_host = getattr(args, "here", False) and not args.limit
    return ConfigScope(getattr(args, "manifest", ""), ("inventory",) if this_host else ())


def _project(manifest: str) -> Project:
    """The content of the project file; YAML is loaded only if there is one."""
    from orchestrator.project.discovery import project_files

    files = project_files(manifest)
    if not files:
        return Project()
    from orchestrator.project.reader import read_project

    return read_project(files)


_MODULES = {"import": "import_ansible"}
"""Commands whose name is a Python keyword."""


def load_command(name: str) -> Any:
    """A command's module: ``HELP``, ``EXAMPLE``, ``configure(parser)``, ``run(args)``.

    It may also have ``below(words)``, which returns a subcommand for the following words.
    """
    return import_module(f"orchestrator.cli.{_MODULES.get(name, name)}")


def find_command(words: list[str]) -> tuple[str, Any, list[str]]:
    """The command at the start of the words: its name, its module, and the remaining words."""
    name, *rest = words
    command = load_command(name)
    found = command.below(rest) if hasattr(command, "below") else None
    return (*found, rest[1:]) if found else (name, command, rest)


def build_parser(name: str, command: Any) -> Parser:
    """The parser of one command, with its example at the end of the help."""
    example = "\n".join(f"  {line}" for line in command.EXAMPLE.strip().splitlines())
    parser = Parser(prog=f"ccm {name}", description=command.HELP, epilog=f"example:\n{example}")
    parser.config_scope = getattr(command, "config_scope", _config_scope)
    command.configure(parser)
    return parser


def unknown_command(name: str, commands: Iterable[str], below: str = "") -> UsageError:
    """The error for a word that is not a command, with the most similar one; ``below`` another
    command.
    """
    import difflib

    guess = difflib.get_close_matches(name, commands, 1, 0.65)
    words = ["ccm", *([below] if below else [])]
    hint = f"did you mean '{' '.join([*words, *guess])}'?"
    if not guess:
        hint = f"'{' '.join(words)} --help' lists the {'types' if below else 'commands'}"
    kind = "option" if name.startswith("-") else "resource type" if below else "command"
    return UsageError(f"unknown {kind} {name[:60]!r}", hint=hint)


def overview(commands: Iterable[str]) -> str:
    """The text of ``ccm --help``."""
    lines = [
        "usage: ccm COMMAND [OPTIONS]",
        "",
        "Configuration management that pushes over SSH.",
        "",
    ]
    for name in commands:
        lines.append(entry(f"  {name}", load_command(name).HELP.splitlines()[0], 14))
    lines += [
        "",
        "'ccm COMMAND --help' shows its options; 'ccm --version' shows the version.",
        "",
        "example:",
        "  ccm push -i hosts.yaml --noop site.yaml     # what would change",
        "  ccm push -i hosts.yaml site.yaml            # change it",
    ]
    return "\n".join(lines)


def entry(name: str, text: str, column: int = 12) -> str:
    """Return a line of a list: a name, followed by its text, wrapped in its own column."""
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns, 40)
    return textwrap.fill(f"{name:<{column}} {text}", width, subsequent_indent=" " * (column + 1))
