"""The completion scripts of the shells (controller), from what the parsers say of themselves."""

import argparse
import re
import shlex
from typing import Any, NamedTuple

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.commands import build_parser, load_command


class Option(NamedTuple):
    """One option; ``takes`` is what follows it: "", "value", "file", "choice" or "asked", which
    only ``ccm completion words`` knows."""

    names: tuple[str, ...]
    help: str
    takes: str
    choices: tuple[str, ...]


class Command(NamedTuple):
    """One command with its options, the words that may follow its name, and whether its other
    arguments are files or asked for.

    ``below`` are commands of their own, by the word that follows this one's name.
    """

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    files: bool
    asked: bool
    below: "tuple[Command, ...]" = ()


_FILES = ("FILE", "MANIFEST", "DIR", "FOLDER")
_ASKED = ("PATTERN", "HOST", "ID", "RUN1", "RUN2")


# What ccm says is text: a host may be called $(reboot), and no shell may evaluate that.
_BASH_ASKED = r"""
_ccm_asked() { # $1: the options whose value ccm knows, or * for any place
    local word candidate known= line="${COMP_LINE:0:COMP_POINT}"
    local -a words
    read -r -a words <<<"$line"
    case "$line" in *[[:space:]]) words+=("") ;; esac
    local last=$((${#words[@]} - 1))
    [ "$last" -gt 1 ] || return
    [ "$1" = '*' ] || case " $1 " in *" ${words[last-1]} "*) ;; *) return 1 ;; esac
    word="${words[last]}"
    case "$word" in
        [\"\']*) word="${word:1}" ;;
        *) word="${word//\\/}"; known="${word%"${word##*[:=&]}"}" ;; # readline ends words there
    esac
    words[last]="$word"
    while IFS= read -r candidate; do
        COMPREPLY+=("${candidate#"$known"}")
    done < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
}""".lstrip()
_ZSH_ASKED = """\
_ccm_asked() {
    local -a found
    found=("${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}")
    found=("${(@f)$(ccm completion words -- "${found[@]}" 2>/dev/null)}")
    compadd -a found
}"""
_FISH_FUNCTIONS = """\
function __ccm_within
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"; and test (count $argv) -lt 2 -o "$words[3]" = "$argv[2]"
end
function __ccm_first_of
    set -l words (commandline -opc)
    test (count $words) -eq (math (count $argv) + 1); and __ccm_within $argv
end
function __ccm_asked
    set -l words (commandline -opc)
    set -l word (commandline -ct | string trim -l -c '"\\'')
    ccm completion words -- $words[2..-1] "$word" 2>/dev/null
end"""


def described() -> list[Command]:
    """Every command as its parser says."""
    return [_with_below(name) for name in COMMANDS]


def _with_below(name: str) -> Command:
    module = load_command(name)
    command = _command(name, module)
    if not hasattr(module, "below"):
        return command
    found = ((word, module.below([word])) for word in command.words)
    below = (_command(*one)._replace(name=word) for word, one in found if one)
    return command._replace(below=tuple(below))


def _command(name: str, module: Any) -> Command:
    options: list[Option] = []
    words: list[str] = []
    arguments: set[str] = set()
    pending = list(build_parser(name, module)._actions)
    for action in pending:
        if action.help == argparse.SUPPRESS:
            continue
        if isinstance(action, argparse._SubParsersAction):
            words += list(action.choices)
            pending += [one for sub in action.choices.values() for one in sub._actions]
        elif action.option_strings:
            options.append(_option(action))
        else:
            words += [str(choice) for choice in action.choices or ()]
            arguments.add(str(action.metavar))
    unique = {option.names: option for option in options}
    files, asked = (not arguments.isdisjoint(names) for names in (_FILES, _ASKED))
    help_ = _first_line(module.HELP)
    return Command(
        name, help_, options=tuple(unique.values()), words=tuple(words), files=files, asked=asked
    )


def _option(action: argparse.Action) -> Option:
    choices = tuple(str(choice) for choice in action.choices or ())
    takes = "" if action.nargs == 0 else "choice" if choices else "value"
    if takes == "value":
        name = str(action.metavar)
        takes = "file" if name in _FILES else "asked" if name in _ASKED else takes
    text = "" if action.help is None else _first_line(action.help % {"default": action.default})
    return Option(tuple(action.option_strings), text, takes, choices)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0].rstrip(".")


def bash(commands: list[Command]) -> str:
    """For bash, 4.0 and newer; needs no bash-completion."""
    first = " ".join([*(command.name for command in commands), "--help", "--version"])
    lines = [
        "# ccm completion for bash",
        _BASH_ASKED,
        "_ccm() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
        "    local options= words= files= asked= takes_file= takes_value= takes_asked=",
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
        '    _ccm_asked "$takes_asked" && return',
        '    case " $takes_file " in *" $prev "*)',
        '        COMPREPLY=( $(compgen -f -- "$cur") ); return ;;',
        "    esac",
        '    case " $takes_value " in *" $prev "*) return ;; esac',
        '    case "$cur" in',
        '        -*) COMPREPLY=( $(compgen -W "$options" -- "$cur") ) ;;',
        "        *)",
        '            [ "$COMP_CWORD" -ne 2 ] || COMPREPLY=( $(compgen -W "$words" -- "$cur") )',
        '            [ -z "$asked" ] || _ccm_asked "*"',
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
        f"takes_asked={words('asked')}",
        f"words={shlex.quote(' '.join(command.words))}",
        f"files={'yes' if command.files else ''}",
        f"asked={'yes' if command.asked else ''}",
    ]
    for option in command.options:
        if option.takes == "choice":
            names, choices = "|".join(option.names), shlex.quote(" ".join(option.choices))
            answer = f'COMPREPLY=( $(compgen -W {choices} -- "$cur") ); return'
            lines.append(f'case "$prev" in {names}) {answer} ;; esac')
    return [f"            {line}" for line in lines]


def zsh(commands: list[Command]) -> str:
    """For zsh, as an autoloaded function."""
    lines = ["#compdef ccm", "", _ZSH_ASKED, "_ccm() {", "    local -a commands", "    commands=("]
    lines += [f"        {_quoted(f'{c.name}:{c.help}')}" for c in commands]
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
        specs.append(_quoted(f"1:word:({' '.join(command.words)})"))
    # without it, a word that is no option ends the completion
    rest = "file:_files" if command.files else "word:_ccm_asked" if command.asked else "value: "
    specs.append(f"'*:{rest}'")
    return [" \\\n                ".join(["            _arguments -s", *specs])]


def _zsh_option(option: Option) -> list[str]:
    text = re.sub(r"([\\\[\]])", r"\\\1", option.help)
    action = {
        "": "",
        "value": ":value: ",
        "file": ":file:_files",
        "asked": ":name:_ccm_asked",
        "choice": f":choice:({' '.join(option.choices)})",
    }[option.takes]
    return [_quoted(f"*{name}[{text}]{action}") for name in option.names]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish(commands: list[Command]) -> str:
    """For fish, 3.0 and newer."""
    lines = ["# ccm completion for fish", _FISH_FUNCTIONS, "complete -c ccm -f"]
    for command in commands:
        condition = "-n __fish_use_subcommand"
        lines.append(f"complete -c ccm {condition} -a {command.name} -d {_fish(command.help)}")
    every = [(command.name, command) for command in commands]
    every += [(f"{c.name} {below.name}", below) for c in commands for below in c.below]
    for words, command in every:
        within = f"complete -c ccm -n '__ccm_within {words}'"
        lines += [f"{within} {_fish_option(option)}" for option in command.options]
        if command.words:
            first = f"complete -c ccm -n '__ccm_first_of {words}'"
            lines.append(f"{first} -a {_fish(' '.join(command.words))}")
        if command.files:
            lines.append(f"{within} -F")
        if command.asked:
            lines.append(f"{within} -a '(__ccm_asked)'")
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_option(option: Option) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    takes = {
        "": [],
        "value": ["-x"],
        "file": ["-r", "-F"],
        "asked": ["-x", "-a '(__ccm_asked)'"],
        "choice": ["-x", f"-a {_fish(' '.join(option.choices))}"],
    }[option.takes]
    return " ".join([*names, *takes, "-d", _fish(option.help)])


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
