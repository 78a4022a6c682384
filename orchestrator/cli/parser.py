"""The parser of a command, which keeps a list of its arguments (controller)."""

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from remote_runtime.text.suggestions import nearest

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


class OptionGroup:
    """Arguments under one title of the help, or of which only one may be given."""

    def __init__(self, owner: "Parser | OptionGroup", group: Any, title: str) -> None:
        self._owner = owner
        self._group = group
        self.title = title
        self.arguments: list[argparse.Action] = []

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        """As of an argparse group."""
        names, settings = self.respell(names, settings)
        action: argparse.Action = self._group.add_argument(*names, **settings)
        self.record(action, settings)
        return action

    def add_exclusive_group(self, required: bool = False) -> "OptionGroup":
        """Return a group of which only one argument may be given."""
        group = self._group.add_mutually_exclusive_group(required=required)
        return OptionGroup(self, group, "")

    def record(self, action: argparse.Action, settings: dict[str, Any]) -> None:
        """Keep an argument of this group or of one in it."""
        self.arguments.append(action)
        self._owner.record(action, settings)

    def respell(
        self, names: tuple[str, ...], settings: dict[str, Any]
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The names and settings as the parser's ``prefixed`` changes them."""
        return self._owner.respell(names, settings)


class Subcommands:
    """The parsers of a command's actions, by name, each with its line of the help."""

    def __init__(self, argument: Any) -> None:
        self.argument = argument
        self.parsers: dict[str, Parser] = {}
        self.helps: dict[str, str] = {}

    def add_parser(self, name: str, aliases: Sequence[str] = (), **settings: str) -> "Parser":
        """Add an action: ``help``, its line in the list of actions, and ``description``."""
        parser: Parser = self.argument.add_parser(name, aliases=aliases, **settings)
        self.parsers.update(dict.fromkeys((name, *aliases), parser))
        self.helps[name] = settings["help"]
        return parser


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are UsageErrors, and that does not accept abbreviations."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", self._formatter)
        # Until there is help to show: to look for the terminal's loads what most runs do not need.
        self._width: int | None = 80
        self.arguments: list[argparse.Action] = []
        """All arguments in the order in which they were added, ``--help`` first."""
        self.repeatable: set[str] = set()
        """The destinations of arguments that collect several values."""
        self.groups: list[OptionGroup] = []
        self.subcommands: Subcommands | None = None
        self._respelled: dict[str, str] = {}
        super().__init__(**settings)
        self.intermixed = False
        self._of_positionals: list[tuple[argparse.Action, Any]] = []
        self.missing: dict[str, str] = {}
        """Options that users may expect but that do not exist, each with a hint."""
        self.offered: dict[str, dict[str, str]] = {}
        """Common values of positional arguments, each with its meaning, for completion."""
        self.config_scope: Callable[[argparse.Namespace], ConfigScope] = default_scope

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        names, settings = self.respell(names, settings)
        action = super().add_argument(*names, **settings)
        self.record(action, settings)
        return action

    def add_group(self, title: str) -> OptionGroup:
        """Return a group with a title in the help."""
        group = OptionGroup(self, self.add_argument_group(title), title)
        self.groups.append(group)
        return group

    def add_exclusive_group(self, required: bool = False) -> OptionGroup:
        """Return a group of which only one argument may be given."""
        return OptionGroup(self, self.add_mutually_exclusive_group(required=required), "")

    def add_subcommands(self) -> Subcommands:
        """Return the collection of the command's actions, of which one must be given."""
        argument = self.add_subparsers(
            metavar="ACTION", required=True, dest="action", parser_class=_Subcommand
        )
        self.record(argument, {})
        self.subcommands = Subcommands(argument)
        return self.subcommands

    def record(self, action: argparse.Action, settings: dict[str, Any]) -> None:
        """Keep an argument of the parser or of one of its groups."""
        self.arguments.append(action)
        if settings.get("action") == "append":
            self.repeatable.add(action.dest)

    @contextmanager
    def prefixed(self, prefix: str, options: set[str]) -> Iterator[None]:
        """Inside the block, options that are added with one of these names get the prefix."""
        self._respelled = {option: prefix + option.removeprefix("--") for option in options}
        try:
            yield
        finally:
            self._respelled = {}

    def respell(
        self, names: tuple[str, ...], settings: dict[str, Any]
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The names and settings as ``prefixed`` changes them; the destination stays."""
        changed = [self._respelled[name] for name in names if name in self._respelled]
        if not changed:
            return names, settings
        long = next((name for name in names if name.startswith("--")), names[0])
        dest = long.lstrip("-").replace("-", "_")
        kept = [name for name in names if name not in self._respelled]
        return (*changed, *kept), {"dest": dest, **settings}

    @property
    def options(self) -> dict[str, argparse.Action]:
        """Each spelling of each option."""
        return {name: action for action in self.arguments for name in action.option_strings}

    def format_help(self) -> str:
        """As argparse does; sentences are wrapped, indented text such as an example is not."""
        import shutil

        self._width = shutil.get_terminal_size().columns - 2
        for action, default in self._of_positionals:
            action.default = default
        texts = self.description, self.epilog
        self.description, self.epilog = (_wrapped(text, self._width) for text in texts)
        try:
            return super().format_help()
        finally:
            self.description, self.epilog = texts

    def format_usage(self) -> str:
        self._width = None
        return super().format_usage()

    def _formatter(self, prog: str) -> argparse.HelpFormatter:
        return argparse.RawDescriptionHelpFormatter(prog, width=self._width)

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

        arguments = [
            one for group in self.groups if group.title == ROLLOUT for one in group.arguments
        ]
        options = [action for action in arguments if action.dest != ROLLOUT]
        return resolve_rollout(
            getattr(args, ROLLOUT),
            project,
            actions=options,
            flags=vars(args),
            repeatable=self.repeatable,
        )

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
        self._of_positionals = [
            (one, one.default) for one in self.arguments if not one.option_strings
        ]
        if self.usage is None:
            self.usage = self.format_usage().removeprefix("usage: ").replace("%", "%%")
        return super().parse_known_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, with the most similar option for a misspelled one."""
        hint = f"see '{self.prog} --help'"
        if message.startswith("unrecognized arguments: -"):
            word = message.split()[2].split("=")[0]
            names = {option.lstrip("-"): option for option in self.options}
            guess = names.get(nearest(word.lstrip("-"), names), "")
            if self.passes_on:
                hint = "put arguments that are not for ccm after --"
            hint = f"did you mean {guess}?" if guess else hint
            if "--noop" in self.options:
                hint = ANSIBLES.get(word, hint)
            hint = self.missing.get(word, hint)
            message = f"unknown option {word[:60]}"
        elif message.startswith("argument -") and message.endswith(": expected one argument"):
            spellings = message.split()[1].rstrip(":").split("/")
            option = next((o for o in spellings if o.startswith("--")), spellings[0])
            hint = f"write a value that starts with - as {option}=VALUE"
        elif found := re.match(r"argument ([^:]+): ignored explicit argument", message):
            message = f"{found[1].split('/')[-1]} takes no value"
        raise UsageError(f"{self.prog.removeprefix('ccm ')}: {message}", hint=hint)


class _Subcommand(Parser):
    """The parser of an action; it refuses unknown options, and not the command's parser."""

    _is_parsing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Called by the command's parser, and for intermixed options by itself."""
        if self._is_parsing:
            return super().parse_known_args(args, namespace)
        parse = self.parse_known_intermixed_args if self.intermixed else super().parse_known_args
        self._is_parsing = True
        try:
            parsed, unknown = parse(args, namespace)
        finally:
            self._is_parsing = False
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown


def _wrapped(text: str | None, width: int) -> str | None:
    """The text with each line that is not indented wrapped."""
    import textwrap

    if text is None:
        return None
    lines = text.splitlines()
    return "\n".join(
        line if line.startswith(" ") else textwrap.fill(line, max(width, 11)) for line in lines
    )


def _keys(project: Project) -> "KeySources":
    """The keys of secrets, which prompt for values that no file contains."""
    from orchestrator.cli.prompts import terminal_secret
    from orchestrator.secrets.key_sources import key_sources

    keys = key_sources(project.secrets, project.directory, os.environ)
    return keys._replace(prompt=terminal_secret())


def default_scope(args: argparse.Namespace) -> ConfigScope:
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
