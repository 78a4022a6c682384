"""Whether a command line only reads (controller)."""

import re

_TEXT = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_SEPARATOR = re.compile(r"&&|\|\||\$\(|[;|\n`()]|(?<![>&\d])&(?![>&\d])")
_WORD_BEFORE = re.compile(
    r"^\s*(?:(?:if|then|else|elif|while|do|!|\{|sudo|env|exec|command)\s+|\w+=\S*\s+)*"
)
_WRITES_FILE = re.compile(r"(?:^|[^>&-])(?:[12]|&)?>{1,2}(?!\s*/dev/null\b|&)")
_READER = re.compile(
    r"(?:cat|ls|e?grep|test|\[|which|stat|id|getent|uname|hostname|readlink|realpath|head|tail|wc|"
    r"find(?!.*\s-(?:delete|exec|ok|fprint))|whoami|type|-v|dpkg-query|dpkg -[lsW]|rpm -q\w*|"
    r"systemctl (?:is-active|is-enabled|status|show|list-\S+|cat)|awk|cut|sort|uniq|tr|jq|"
    r"sed(?!.*\s(?:-\w*i|--in-place))|echo|printf|true|false|:|exit|set|fi|done|\}|basename|dirname)"
    r"(?:\s.*|$)|\S+ (?:--version|-version|-V|version|-v|--help)(?:\s*\d?>&?\s*\S+)*$"
)
_CHANGER = re.compile(
    r"(?:systemctl(?: --\S+)* (?:re)?(?:start|stop|load|try-restart|enable|disable|mask|unmask|"
    r"daemon-reload|daemon-reexec|set-\S+|isolate|kill|reload-or-restart)|"
    r"(?:service|/etc/init\.d/)\s*\S+ (?:re)?(?:start|stop|load)|swapoff|swapon|rm|rmdir|mkdir|mv|"
    r"cp|ln|touch|chmod|chown|chgrp|chattr|setfacl|truncate|tee|dd|fallocate|mkswap|mkfs\S*|mount|"
    r"umount|(?:user|group)(?:add|mod|del)(?!\s+(?:-D|--defaults)\s*$)|chpasswd|usermod|"
    r"(?:apt|apt-get|yum|dnf|zypper|apk) .*"
    r"(?:install|remove|update|upgrade|purge|clean|add)|(?:\S*pip3?|npm|gem|snap) "
    r"(?:install|uninstall|remove)|update-(?!alternatives --(?:query|list|display|get))\S+|"
    r"sysctl (?:-w|-p|--system|--load)|modprobe(?! -n)|sed .*(?:-i|--in-place)|git (?:clone|pull|"
    r"checkout|reset)|docker (?:run|rm|start|stop|restart|pull|build|load)|a2(?:en|dis)\S+|"
    r"locale-gen|setenforce|setsebool|restorecon|kill|pkill|killall|reboot|shutdown|"
    r"ssh-keygen (?!-[lFyE])|tar (?:\S*\s)*-?-?(?:x|extract)|unzip(?! -[lt]))(?:\s.*|$)"
)


def only_reads(line: str) -> bool:
    """Whether each command of a line is known to only read."""
    pieces = _pieces(line)
    return bool(pieces) and all(_READER.match(one) for one in pieces) and not changes(line)


def changes(line: str) -> bool:
    """Whether a command of a line is known to change the host."""
    return _writes(line) or any(_CHANGER.match(one) for one in _pieces(line))


def _writes(line: str) -> bool:
    return _WRITES_FILE.search(_TEXT.sub("_", line)) is not None


def _pieces(line: str) -> list[str]:
    """The simple commands of a line, with a blank for each string and template."""
    text = _TEXT.sub("_", line.replace("\\\n", " "))
    parts = (_WORD_BEFORE.sub("", one).strip() for one in _SEPARATOR.split(text))
    return [one for one in parts if one]
