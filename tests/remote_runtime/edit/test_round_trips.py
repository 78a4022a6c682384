"""Round trips of configuration files of known programs, and of 59 packages of Debian: nothing
changes but what is edited."""

import os
import unittest
from typing import Dict, Iterator, List, Tuple

from remote_runtime.resources.edit.document import Document
from remote_runtime.resources.edit.rules import edit_of
from remote_runtime.resources.edit.setting_edits import Entry, Grammar, SettingsEdit, sections_of

FILES = (
    ("ini", "[mysqld]\n#\n# * Basic\n#\nuser\t\t= mysql\npid-file = /run/mysqld.pid\n!include /x\n"
     "skip-name-resolve\n\n[client]\nsocket=/run/mysqld.sock ; here\n"),
    ("ini", "[PHP]\n\n; UNIX: \"/path1:/path2\"\n;include_path = \".:/usr/share/php\"\n"
     "memory_limit = 128M\nerror_reporting = E_ALL & ~E_DEPRECATED\n[Date]\n;date.timezone =\n"),
    ("ini", "[global]\n   workgroup = WORKGROUP\n;   interfaces = 127.0.0.0/8 eth0\n\n"
     "   log file = /var/log/samba/log.%m\n[printers]\n   path = /var/tmp\n"),
    ("ini", "[user]\n\tname = Anna\n\temail = anna@example.com\n[alias]\n\tlg = log --graph\n"),
    ("ini", "[Unit]\nDescription=A = b\nAfter=network.target\n\n[Service]\nExecStart=/bin/a \\\n"
     "  --b=c\nEnvironment=A=1\r\nRestart=always"),
    ("ini", "[main]\nplugins=ifupdown,keyfile\n\n[ifupdown]\nmanaged=false\n"),
    ("ini", "[DEFAULT]\nignoreip = 127.0.0.1/8 ::1\n           192.0.2.1\nbantime  = 1\n[sshd]\n"),
    ("key=value", "# for ssh\nSSHD_OPTS=\nexport LANG=\"C.UTF-8\"\nA='b c' # d\n\nE=\\\nf\n"),
    ("key=value", "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\nHOME_URL=\"https://x/?a=b\"\n"),
    ("key=value", "#net.ipv4.ip_forward=1\nkernel.printk = 3 4 1 3\nnet.ipv4.tcp_syncookies=1\n"),
    ("key value", "MAIL_DIR        /var/mail\n#MAIL_FILE  .mail\nUMASK\t\t022\nUID_MIN  9 \n"),
    ("key value", "server 0.example.com iburst\nserver 1.example.com iburst\nmakestep 1 3\n"),
    ("ssh", "Include /etc/ssh/sshd_config.d/*.conf\n#Port 22\nPort 2222\nPermitRootLogin=no\n"
     "Match User backup\n\tForceCommand x y\n\tX11Forwarding no\nMatch all\n"),
    ("ssh", "Host *.example.com !x\n  User anna\n  ProxyJump  gate\n\nHost *\n    Port 2222\n"),
)  # fmt: skip

_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "settings.txt")


def files_of_packages() -> List[Tuple[str, str]]:
    """The format and the text of each, as its package has it."""
    with open(_DATA, encoding="utf-8", newline="") as file:
        parts = file.read().split("=== file: ")[1:]
    return [(part.split(": ", 1)[0], part.split("\n", 1)[1]) for part in parts]


ALL = (*FILES, *files_of_packages())

SUDOERS = """\
Defaults\tenv_reset
Defaults\tsecure_path="/usr/local/sbin:/usr/sbin:/usr/bin"
Cmnd_Alias RESTART = /bin/systemctl restart app, \\
    /bin/systemctl restart web
# User privilege specification
root\tALL=(ALL:ALL) ALL
%sudo\tALL=(ALL:ALL) ALL
anna   ALL = (app) NOPASSWD: RESTART

@includedir /etc/sudoers.d
"""


def single_entries(text: str, kind: str) -> Iterator[Tuple[str, Entry]]:
    """The section and the entry of each key that a single line sets."""
    grammar = Grammar(kind)
    for section in sections_of(Document(text.encode()), grammar):
        keys = [entry.key for entry in section.entries]
        for entry in section.entries:
            if keys.count(entry.key) == 1 and entry.last == entry.at and entry.separator:
                yield section.name, entry


def changed(text: str, kind: str, section: str, settings: Dict[str, str]) -> str:
    """The file with these settings in a section."""
    document = Document(text.encode())
    SettingsEdit({section: settings} if section else settings, kind).present(document)
    return document.data().decode()


class RoundTripTest(unittest.TestCase):
    def test_settings(self):
        """A value as it is changes nothing; another one changes its line, and back all of it."""
        self.assertGreaterEqual(len(files_of_packages()), 50)
        tried = 0
        for kind, text in ALL:
            for section, entry in single_entries(text, kind):
                self.assertEqual(changed(text, kind, section, {entry.key: entry.value}), text)
                other = changed(text, kind, section, {entry.key: "other"})
                lines = zip(text.split("\n"), other.split("\n"))
                self.assertEqual(len([one for one, two in lines if one != two]), 1, entry)
                self.assertEqual(other.count("\n"), text.count("\n"))
                self.assertEqual(changed(other, kind, section, {entry.key: entry.value}), text)
                tried += 1
        self.assertGreater(tried, 350)

    def test_new_settings(self):
        """A new key adds one line, and nothing else; removed again, the file is as before."""
        for kind, text in ALL:
            for section in {name for name, _ in single_entries(text, kind)}:
                longer = changed(text, kind, section, {"NewKey": "1"})
                self.assertEqual(longer.count("NewKey"), 1)
                document = Document(longer.encode())
                where = {"NewKey": None}
                SettingsEdit({section: where} if section else where, kind).absent(document)
                left = document.data().decode()
                self.assertIn(left, (text, text + "\n"))  # a last line without an end gets one

    def test_sudoers(self):
        """A line comes behind its anchor and goes again; all others stay byte for byte."""
        line = "bob ALL=(root) NOPASSWD: /usr/bin/apt-get update"
        for anchor in ("^root", "^%sudo", "^Defaults", "^@includedir"):
            spec = {"line": line, "after": anchor}
            document = Document(SUDOERS.encode())
            edit_of(spec).present(document)
            found = document.data().decode()
            self.assertEqual(found.replace(line + "\n", "", 1), SUDOERS)
            edit_of({"line": line, "ensure": "absent"}).absent(document)
            self.assertEqual(document.data().decode(), SUDOERS)


if __name__ == "__main__":
    unittest.main()
