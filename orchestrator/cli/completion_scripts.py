"""The completion scripts of the shells (controller), from what the parsers say of themselves."""

import argparse
import shlex
from typing import Any, NamedTuple

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.commands import build_parser, load_command


class Option(NamedTuple):
    """One option; ``takes`` is what follows it: "", "value", "file" or "choice"."""

    names: tuple[str, ...]
    help: str
    takes: str
    choices: tuple[str, ...]


class Command(NamedTuple):
    """One command with its options and the words that it takes by themselves.

    ``below`` are commands of their own, by the word that follows this one's name.
    """

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    files: bool
    below: "tuple[Command, ...]" = ()


_FILES = ("FILE", "MANIFEST", "DIR", "FOLDER")


def described() -> list[Command]:
    """Every command as its parser says."""
    return [_with_below(name) for name in COMMANDS]


def _with_below(name: str) -> Command:
    module = load_command(name)
    command = _command(name, module)
    if not hasattr(module, "below"):
        return command
    found = []
    for word in command.words:
        label, one = module.below([word])
        found.append(_command(label, one)._replace(name=word))
    return command._replace(below=tuple(found))


def _command(name: str, module: Any) -> Command:
    options: list[Option] = []
    words: list[str] = []
    files = False
    for action in build_parser(name, module)._actions:
        if action.help == argparse.SUPPRESS:
            continue
        if isinstance(action, argparse._SubParsersAction):
            words += list(action.choices)
            options += [o for sub in action.choices.values() for o in map(_option, sub._actions)]
        elif action.option_strings:
            options.append(_option(action))
        else:
            words += [str(choice) for choice in action.choices or ()]
            files = files or str(action.metavar) in _FILES
    unique = {option.names: option for option in options if option.names}
    return Command(name, _first_line(module.HELP), tuple(unique.values()), tuple(words), files)


def _option(action: argparse.Action) -> Option:
    choices = tuple(str(choice) for choice in action.choices or ())
    takes = "" if action.nargs == 0 else "choice" if choices else "value"
    if takes == "value" and str(action.metavar) in _FILES:
        takes = "file"
    text = "" if action.help is None else _first_line(action.help % {"default": action.default})
    return Option(tuple(action.option_strings), text, takes, choices)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0].rstrip(".")


def bash(commands: list[Command]) -> str:
    """For bash, 4.0 and newer; needs no bash-completion."""
    first = " ".join([*(command.name for command in commands), "--help", "--version"])
    lines = [
        "# ccm completion for bash",
        "_ccm() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
        "    local options= words= files= takes_file= takes_value=",
        "    COMPREPLY=()",
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f"        words={shlex.quote(first)}",
        '        COMPREPLY=( $(compgen -W "$words" -- "$cur") )',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]}" in',
    ]
    for command in commands:
        lines += [f"        {command.name})", *_bash_options(command), *_bash_below(command)]
        lines.append("            ;;")
    lines += [
        "    esac",
        '    case " $takes_file " in *" $prev "*)',
        '        COMPREPLY=( $(compgen -f -- "$cur") ); return ;;',
        "    esac",
        '    case " $takes_value " in *" $prev "*) return ;; esac',
        '    case "$cur" in',
        '        -*) COMPREPLY=( $(compgen -W "$options" -- "$cur") ) ;;',
        "        *)",
        '            COMPREPLY=( $(compgen -W "$words" -- "$cur") )',
        '            [ -z "$files" ] || COMPREPLY+=( $(compgen -f -- "$cur") )',
        "            ;;",
        "    esac",
        "}",
        "complete -o filenames -F _ccm ccm",
    ]
    return "\n".join(lines) + "\n"


def _bash_below(command: Command) -> list[str]:
    if not command.below:
        return []
    lines = ['            [ "$COMP_CWORD" -eq 2 ] || case "${COMP_WORDS[2]}" in']
    for one in command.below:
        lines += [
            f"                {one.name})",
            *(f"        {line}" for line in _bash_options(one)),
        ]
        lines.append("                    ;;")
    return [*lines, "            esac"]


def _bash_options(command: Command) -> list[str]:
    def words(kind: str) -> str:
        found = [n for o in command.options if o.takes == kind for n in o.names]
        return shlex.quote(" ".join(found))

    every = " ".join(name for option in command.options for name in option.names)
    lines = [
        f"options={shlex.quote(every)}",
        f"takes_file={words('file')}",
        f"takes_value={words('value')}",
        f"words={shlex.quote(' '.join(command.words))}",
        f"files={'yes' if command.files else ''}",
    ]
    for option in command.options:
        if option.takes == "choice":
            names, choices = "|".join(option.names), shlex.quote(" ".join(option.choices))
            answer = f'COMPREPLY=( $(compgen -W {choices} -- "$cur") ); return'
            lines.append(f'case "$prev" in {names}) {answer} ;; esac')
    return [f"            {line}" for line in lines]


def zsh(commands: list[Command]) -> str:
    """For zsh, as an autoloaded function."""
    lines = ["#compdef ccm", "", "_ccm() {", "    local -a commands", "    commands=("]
    lines += [f"        {_quoted(f'{c.name}:{_plain(c.help)}')}" for c in commands]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe -t commands 'ccm command' commands",
        "        return",
        "    fi",
        "    local command=$words[2]",
        "    shift words; (( CURRENT-- ))",
        "    case $command in",
    ]
    for command in commands:
        lines.append(f"        {command.name})")
        if command.below:
            lines.append("            if (( CURRENT > 2 )); then case $words[2] in")
            for one in command.below:
                lines += [f"            {one.name})", *_zsh_arguments(one), "            return ;;"]
            lines.append("            esac; fi")
        lines += [*_zsh_arguments(command), "            ;;"]
    # as a file of fpath it is called at once, sourced it only makes itself known
    end = 'if [ "$funcstack[1]" = _ccm ]; then _ccm "$@"; else compdef _ccm ccm; fi'
    return "\n".join([*lines, "    esac", "}", "", end]) + "\n"


def _zsh_arguments(command: Command) -> list[str]:
    specs = [spec for option in command.options for spec in _zsh_option(option)]
    if command.words:
        specs.append(_quoted(f"*:word:({' '.join(command.words)})"))
    elif command.files:
        specs.append("'*:file:_files'")
    else:
        specs.append("'*:value: '")  # without it, a word that is no option ends the completion
    return [" \\\n                ".join(["            _arguments -s", *specs])]


def _zsh_option(option: Option) -> list[str]:
    text = _plain(option.help).replace("[", "(").replace("]", ")")
    action = {
        "": "",
        "value": ":value: ",
        "file": ":file:_files",
        "choice": f":choice:({' '.join(option.choices)})",
    }[option.takes]
    return [_quoted(f"*{name}[{text}]{action}") for name in option.names]


def _plain(text: str) -> str:
    return text.replace(":", ";").replace("\\", "")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish(commands: list[Command]) -> str:
    """For fish, 3.0 and newer."""
    lines = ["# ccm completion for fish", "complete -c ccm -f"]
    for command in commands:
        condition = "-n __fish_use_subcommand"
        lines.append(f"complete -c ccm {condition} -a {command.name} -d {_fish(command.help)}")
    for one, above in [(c, "") for c in commands] + [
        (b, c.name) for c in commands for b in c.below
    ]:
        command, condition = one, f"__fish_seen_subcommand_from {one.name}"
        if above:
            condition = f"__fish_seen_subcommand_from {above}; and {condition}"
        seen = f"complete -c ccm -n '{condition}'"
        lines += [f"{seen} {_fish_option(option)}" for option in command.options]
        if command.words:
            lines.append(f"{seen} -a {_fish(' '.join(command.words))}")
        if command.files:
            lines.append(f"{seen} -F")
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_option(option: Option) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    takes = {
        "": [],
        "value": ["-x"],
        "file": ["-r", "-F"],
        "choice": ["-x", f"-a {_fish(' '.join(option.choices))}"],
    }[option.takes]
    return " ".join([*names, *takes, "-d", _fish(option.help)])


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
