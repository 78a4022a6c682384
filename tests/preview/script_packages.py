"""Packages of the corpus whose maintainer scripts do more than start a unit: helpers, tmpfiles.d,
dpkg-maintscript-helper, triggers, loops and functions.
"""

from __future__ import annotations

from tests.lab import Package

from .debhelper import managed

_TMPFILES = """# pv-tmpf
d /run/pv-tmpf 0750 root adm -
d /var/lib/pv-tmpf/spool 2775 root mail -
f /var/lib/pv-tmpf/motto 0640 root root - always
L /var/lib/pv-tmpf/link - - - - /usr/share/pv-tmpf/motto
z /etc/pv-tmpf.conf 0600 root root -
C /var/lib/pv-tmpf/copy - - - - /usr/share/pv-tmpf
"""


def _helper_calls(*lines: str) -> dict[str, str]:
    """What debhelper makes of lines of a .maintscript file."""
    text = "".join(f'dpkg-maintscript-helper {line} -- "$@"\n' for line in lines)
    return dict.fromkeys(("preinst", "postinst", "prerm", "postrm"), text)


_FIRST = {
    "/etc/pv-conf/old.conf": "old = 1\n",
    "/etc/pv-conf/a.conf": "a = 1\n",
    "/usr/share/pv-conf/first/x": "x\n",
}
_SECOND = {
    "/etc/pv-conf/b.conf": "b = 2\n",
    "/usr/share/pv-conf/second/x": "x\n",
}

SCRIPTED: tuple[Package, ...] = (
    Package(  # a program that the scripts of others call
        "pv-helper",
        "1.0-1",
        {
            "/usr/sbin/pv-mkinstance": "#!/bin/sh\n"
            'mkdir -p "/etc/pv-instances/$1"; echo "name = $1" > "/etc/pv-instances/$1/main.conf"\n'
        },
    ),
    Package(
        "pv-helped",
        "1.0-1",
        {"/usr/share/pv-helped/version": "1\n"},
        {
            "postinst": 'if [ "$1" = configure ] && [ -z "$2" ]; then\n'
            "    pv-mkinstance blue || true\nfi\n"
        },
        fields={"Depends": "pv-helper"},
    ),
    Package(
        "pv-tmpf",
        "1.0-1",
        {
            "/usr/lib/tmpfiles.d/pv-tmpf.conf": _TMPFILES,
            "/usr/share/pv-tmpf/motto": "always\n",
            "/etc/pv-tmpf.conf": "x = 1\n",
        },
        {
            "postinst": 'if [ -x "$(command -v systemd-tmpfiles)" ]; then\n'
            '    systemd-tmpfiles ${DPKG_ROOT:+--root="$DPKG_ROOT"} --create pv-tmpf.conf || true\n'
            "fi\n"
        },
        ("/etc/pv-tmpf.conf",),
    ),
    Package(
        "pv-conf",
        "1.0-1",
        _FIRST,
        conffiles=("/etc/pv-conf/old.conf", "/etc/pv-conf/a.conf"),
    ),
    Package(
        "pv-conf",
        "2.0-1",
        _SECOND,
        _helper_calls(
            "rm_conffile /etc/pv-conf/old.conf 2.0\\~",
            "mv_conffile /etc/pv-conf/a.conf /etc/pv-conf/b.conf 2.0\\~",
        ),
        ("/etc/pv-conf/b.conf",),
    ),
    Package(  # waits for what lies in a directory
        "pv-index",
        "1.0-1",
        {"/usr/share/pv-index/version": "1\n"},
        {
            "triggers": "interest-noawait /usr/share/pv-plugins\n",
            "postinst": 'case "$1" in\n'
            "    triggered)\n"
            "        mkdir -p /var/lib/pv-index\n"
            "        echo indexed > /var/lib/pv-index/state\n"
            "        ;;\n"
            "    configure) ;;\n"
            "esac\n",
        },
    ),
    Package(
        "pv-plugin",
        "1.0-1",
        {"/usr/share/pv-plugins/one": "one\n"},
    ),
    Package(  # waits for a name
        "pv-registry",
        "1.0-1",
        {"/usr/share/pv-registry/version": "1\n"},
        {
            "triggers": "interest pv-registration\n",
            "postinst": 'if [ "$1" = triggered ]; then\n'
            "    pv-register-all > /dev/null 2>&1 || date > /etc/pv-registered\nfi\n",
        },
    ),
    Package(
        "pv-registers",
        "1.0-1",
        {"/usr/share/pv-registers/version": "1\n"},
        {"triggers": "activate pv-registration\n"},
    ),
    Package(  # functions, loops, here-documents, other directories
        "pv-shelly",
        "1.0-1",
        {"/usr/share/pv-shelly/template": "t = 1\n"},
        {
            "postinst": """
STATE=/var/lib/pv-shelly
make_dir() {
    local dir="$1"; shift
    if [ ! -d "$dir" ]; then
        install -d -m "${1:-0755}" -o root -g adm "$dir"
    fi
}
case "$1" in
    configure)
        make_dir "$STATE" 0750
        for part in in out; do
            make_dir "$STATE/$part" 2770
        done
        if ! getent passwd pv-nobody-there >/dev/null; then
            cat > "$STATE/notice" <<-EOF
	no account for ${DPKG_MAINTSCRIPT_PACKAGE}
	EOF
        fi
        cd /etc && [ -e pv-shelly.conf ] || cp /usr/share/pv-shelly/template pv-shelly.conf
        dpkg --compare-versions "$2" lt-nl 0.5 && rm -rf /srv/pv-shelly
        chmod 0640 /etc/pv-shelly.conf
        ;;
    abort-upgrade|abort-remove|abort-deconfigure) ;;
    *) echo "called with $1" >&2; exit 1 ;;
esac
exit 0
"""
        },
    ),
    Package(
        "pv-instanced",
        "1.0-1",
        {
            "/lib/systemd/system/pv-instanced@.service": "[Unit]\nDescription=corpus\n\n[Service]\n"
            "ExecStart=/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n"
        },
        {
            "postinst": 'if [ "$1" = configure ]; then\n'
            "    systemctl enable --now pv-instanced@main.service >/dev/null 2>&1 || true\nfi\n"
        },
    ),
    Package(  # asks debconf, and makes what the answers say
        "pv-asking",
        "1.0-1",
        {"/usr/share/pv-asking/version": "1\n"},
        {
            "templates": "Template: pv-asking/name\nType: string\nDefault: blue\n"
            "Description: Name:\n What to call it.\n\n"
            "Template: pv-asking/extra\nType: boolean\nDefault: true\n"
            "Description: Extra?\n Whether to have more.\n",
            "config": ". /usr/share/debconf/confmodule\n"
            "db_input low pv-asking/name || true\ndb_go || true\n"
            "[ -e /etc/pv-asking.hint ] || echo asked > /etc/pv-asking.hint\n",
            "postinst": ". /usr/share/debconf/confmodule\n"
            "db_get pv-asking/name\nmkdir -p /etc/pv-asking\n"
            'echo "name = $RET" > /etc/pv-asking/main.conf\n'
            "db_get pv-asking/extra\n"
            'if [ "$RET" = true ]; then mkdir -p /var/lib/pv-asking/extra; fi\ndb_stop\n',
        },
        fields={"Depends": "debconf"},
    ),
    Package(  # sets an answer by itself, and forgets a password once it has used it
        "pv-choosing",
        "1.0-1",
        {"/usr/share/pv-choosing/version": "1\n"},
        {
            "templates": "Template: pv-choosing/zone\nType: string\nDefault: UTC\n"
            "Description: Zone:\n Where it is.\n\n"
            "Template: pv-choosing/password\nType: password\n"
            "Description: Password:\n Who may use it.\n",
            "config": ". /usr/share/debconf/confmodule\n"
            '[ ! -e /etc/pv-zone ] || db_set pv-choosing/zone "$(cat /etc/pv-zone)"\n'
            "db_input low pv-choosing/zone || true\n"
            "db_input low pv-choosing/password || true\ndb_go || true\n",
            "postinst": ". /usr/share/debconf/confmodule\n"
            "db_get pv-choosing/password\n"
            'printf %s "$RET" | sha256sum > /var/lib/pv-choosing.sum\n'
            "db_reset pv-choosing/password\n"
            'db_get pv-choosing/zone\necho "$RET" > /var/lib/pv-choosing.zone\ndb_stop\n',
        },
        fields={"Depends": "debconf"},
    ),
    Package(  # commands that fail, and what scripts do about it
        "pv-fails",
        "1.0-1",
        {"/usr/share/pv-fails/version": "1\n"},
        {
            "postinst": """
D=/etc/pv-fails
mkdir -p $D
mkdir $D 2>/dev/null || echo there > $D/mkdir
rm $D/none 2>/dev/null || echo none > $D/rm
rmdir $D/none 2>/dev/null || echo none > $D/rmdir
rmdir $D 2>/dev/null || echo full > $D/full
: ${MODE:=auto}; echo "$MODE${NO-none}" > $D/mode
mkdir $D/real; ln -s real $D/link; chown -h root:adm $D/link
echo one > $D/one; ln -s one $D/other; chmod 0640 $D/other
echo two > $D/two; ln -s two $D/more; echo more >> $D/more
date > $D/open
if [ -e $D/open ]; then echo there > $D/after; fi
touch $D/none/x 2>/dev/null || echo none > $D/touch
chown nobody-knows $D/touch 2>/dev/null || echo nobody > $D/chown
"""
        },
    ),
    Package(
        "pv-terminal",
        "1.0-1",
        scripts={
            "postinst": "read answer < /dev/tty || answer=none\n"
            'echo "answer = $answer" > /etc/pv-terminal.conf\n'
        },
    ),
    *(
        Package(  # a link in one version, a directory in the next
            "pv-unlinked",
            version,
            files,
            scripts,
        )
        for version, files, scripts in (
            (
                "1.0-1",
                {"/usr/share/pv-unlinked/text/a": "a\n"},
                {"postinst": "cd /usr/share/pv-unlinked; [ -e doc ] || ln -s text doc\n"},
            ),
            (
                "2.0-1",
                {"/usr/share/pv-unlinked/doc/b": "b\n", "/usr/share/pv-unlinked/text/a": "a\n"},
                _helper_calls("symlink_to_dir /usr/share/pv-unlinked/doc text 2.0\\~"),
            ),
        )
    ),
    *(
        Package(  # a daemon that keeps state in its next version only
            "pv-respawn",
            version,
            {
                "/usr/sbin/pv-respawn": "#!/bin/sh\n" + begins + "exec sleep infinity\n",
                "/lib/systemd/system/pv-respawn.service": "[Unit]\nDescription=p\n\n[Service]\n"
                f"ExecStart=/usr/sbin/pv-respawn\n{more}\n[Install]\nWantedBy=multi-user.target\n",
            },
            managed("pv-respawn.service"),
        )
        for version, more, begins in (
            ("1.0-1", "", ""),
            (
                "2.0-1",
                "StateDirectory=pv-respawn\nStateDirectoryMode=0750\n",
                "echo 2 > /var/lib/pv-respawn/version\n",
            ),
        )
    ),
    *(
        Package(  # a directory in one version, a link in the next
            "pv-relinked",
            version,
            files,
            scripts,
        )
        for version, files, scripts in (
            ("1.0-1", {"/usr/share/pv-relinked/doc/a": "a\n"}, {}),
            (
                "2.0-1",
                {"/usr/share/pv-relinked/text/a": "a\n"},
                _helper_calls("dir_to_symlink /usr/share/pv-relinked/doc text 2.0\\~"),
            ),
        )
    ),
)
