"""The packages of the corpus: they bring units, users, conffiles, programs, and get in each other's
way. Versions of a name differ in what each comment says.
"""

from __future__ import annotations

from tests.lab import Package

from .daemon_packages import DAEMONS
from .debhelper import managed
from .script_packages import SCRIPTED


def unit_text(command: str, more: str = "", install: str = "WantedBy=multi-user.target") -> str:
    """The text of a unit with a command and further lines."""
    wanted = f"\n[Install]\n{install}\n" if install else ""
    return f"[Unit]\nDescription=corpus\n\n[Service]\nExecStart={command}\n{more}{wanted}"


def _masking(unit: str) -> dict[str, str]:
    """Those of an older debhelper, which masks what goes."""
    scripts = managed(unit)
    scripts["postrm"] += f"""
if [ "$1" = remove ]; then deb-systemd-helper mask '{unit}' >/dev/null || true; fi
if [ "$1" = purge ]; then deb-systemd-helper unmask '{unit}' >/dev/null || true; fi
"""
    return scripts


def _stopping(unit: str) -> dict[str, str]:
    """Those of a unit that an upgrade stops first."""
    scripts = managed(unit)
    return {**scripts, "prerm": scripts["prerm"].replace('[ "$1" = remove ] && ', "")}


def _web(version: str, answer: str) -> Package:
    """A web server: program, unit that is enabled and started, conffile, its own user."""
    scripts = managed("pv-web.service")
    scripts["postinst"] = "systemd-sysusers pv-web.conf\n" + scripts["postinst"]
    return Package(
        "pv-web",
        version,
        {
            "/usr/sbin/pv-web": "#!/bin/sh\nexec sleep infinity\n",
            "/lib/systemd/system/pv-web.service": unit_text(
                "/usr/sbin/pv-web", "ExecReload=/bin/true\n"
            ),
            "/etc/pv-web/pv-web.conf": f"# pv-web\nanswer = {answer}\n",
            "/etc/pv-web/conf.d/00-default.conf": "listen = 80\n",
            "/usr/lib/sysusers.d/pv-web.conf": "u pv-web - 'corpus web' /var/lib/pv-web\n",
            "/var/lib/pv-web/index.html": "It works\n",
        },
        scripts,
        ("/etc/pv-web/pv-web.conf", "/etc/pv-web/conf.d/00-default.conf"),
        {"Depends": "pv-lib"},
    )


def _agent(version: str, more: dict[str, str] | None = None) -> Package:
    """A daemon whose unit is neither enabled nor started."""
    files = {
        "/usr/bin/pv-agent": "#!/bin/sh\nexec sleep infinity\n",
        "/lib/systemd/system/pv-agent.service": unit_text("/usr/bin/pv-agent"),
    }
    return Package("pv-agent", version, {**files, **(more or {})})


def _mta(name: str) -> Package:
    """One of two mail servers, of which a host can have one."""
    return Package(
        name,
        "1.0-1",
        {
            f"/lib/systemd/system/{name}.service": unit_text("/bin/sleep infinity"),
            f"/etc/{name}.conf": f"# {name}\n",
            f"/usr/lib/{name}/deliver": "#!/bin/sh\nexit 0\n",
        },
        managed(f"{name}.service"),
        (f"/etc/{name}.conf",),
        {"Provides": "pv-mail", "Conflicts": "pv-mail", "Replaces": "pv-mail"},
    )


def _plain(name: str, version: str, **fields: str) -> Package:
    return Package(name, version, {f"/usr/share/{name}/version": f"{version}\n"}, fields=fields)


PACKAGES: tuple[Package, ...] = (
    _web("1.0-1", "forty-one"),
    _web("1.1-1", "forty-one"),
    _web("2.0-1", "forty-two"),  # its conffile differs
    Package(
        "pv-shout",
        "1.0-1",
        {"/usr/bin/pv-shout": '#!/bin/sh\nsed -i s/word/WORD/ "$1"\n'},
    ),
    _plain("pv-lib", "1.0-1"),
    _plain("pv-lib", "2.0-1"),
    _plain("pv-needs-old", "1.0-1", Depends="pv-lib (<< 2.0)"),
    _plain("pv-needs-new", "1.0-1", Depends="pv-lib (>= 2.0)"),
    _plain("pv-enemy", "1.0-1", Conflicts="pv-lib"),
    _plain("pv-chain-a", "1.0-1", Depends="pv-chain-b"),
    _plain("pv-chain-b", "1.0-1", Depends="pv-chain-c (= 1.0-1)"),
    _plain("pv-chain-c", "1.0-1"),
    _plain("pv-unmet", "1.0-1", Depends="pv-nowhere (>= 3)"),
    _plain("pv-recommends", "1.0-1", Recommends="pv-chain-c"),
    _plain("pv-either", "1.0-1", Depends="pv-mail"),
    _mta("pv-mta-a"),
    _mta("pv-mta-b"),
    _agent("1.0-1"),
    _agent("1.1-1", {"/usr/bin/pv-agentctl": "#!/bin/sh\nexit 0\n"}),  # another program
    Package(
        "pv-tool",
        "1.0-1",
        {
            "/usr/bin/pv-tool": '#!/bin/sh\necho "$@" >> /srv/pv-tool.log\n',
            "/etc/pv-tool.conf": "level = 1\n",
            "/usr/share/pv-tool/old.dat": "of 1.0\n",
        },
        conffiles=("/etc/pv-tool.conf",),
    ),
    Package(  # without old.dat, with new.dat and an unchanged conffile
        "pv-tool",
        "2.0-1",
        {
            "/usr/bin/pv-tool": '#!/bin/sh\necho "$@" >> /srv/pv-tool.log\n',
            "/etc/pv-tool.conf": "level = 1\n",
            "/usr/share/pv-tool/new.dat": "of 2.0\n",
        },
        conffiles=("/etc/pv-tool.conf",),
    ),
    Package(  # its file was pv-tool's
        "pv-tool-data",
        "2.0-1",
        {"/usr/share/pv-tool/old.dat": "of data\n"},
        fields={"Replaces": "pv-tool (<< 2.0)", "Breaks": "pv-tool (<< 2.0)"},
    ),
    Package(
        "pv-user",
        "1.0-1",
        {
            "/usr/lib/sysusers.d/pv-user.conf": "u pvuser 4711 'corpus' /srv/pvuser\n",
            "/etc/pv-user/keep": "",
        },
        {"postinst": "systemd-sysusers pv-user.conf\n"},
    ),
    Package(  # makes its configuration itself
        "pv-maker",
        "1.0-1",
        {"/usr/bin/pv-maker": "#!/bin/sh\nexit 0\n"},
        {"postinst": "[ -e /etc/pv-maker.conf ] || echo 'made = yes' > /etc/pv-maker.conf\n"},
    ),
    Package(  # has another's program lie elsewhere, and brings its own
        "pv-diverts",
        "1.0-1",
        {"/usr/bin/pv-shout": "#!/bin/sh\nexit 0\n"},
        {
            "preinst": "dpkg-divert --package pv-diverts --rename --add /usr/bin/pv-shout\n",
            "postrm": '[ "$1" != remove ] ||'
            " dpkg-divert --package pv-diverts --rename --remove /usr/bin/pv-shout\n",
        },
    ),
    Package("pv-rival", "1.0-1", {"/usr/share/pv-tool/old.dat": "of a rival\n"}),
    Package("pv-broken", "1.0-1", scripts={"postinst": "echo 'no luck today' >&2\nexit 1\n"}),
    Package("pv-refuses", "1.0-1", scripts={"preinst": "echo 'not on this host' >&2\nexit 1\n"}),
    Package("pv-stays", "1.0-1", scripts={"prerm": 'test "$1" != remove\n'}),
    Package(
        "pv-job",
        "1.0-1",
        {
            "/lib/systemd/system/pv-job.service": unit_text("/bin/true", "Type=oneshot\n", ""),
            "/lib/systemd/system/pv-job.timer": (
                "[Unit]\nDescription=corpus\n[Timer]\nOnCalendar=yearly\n"
                "[Install]\nWantedBy=timers.target\n"
            ),
        },
        managed("pv-job.timer"),
    ),
    Package(  # a unit with instances, and one that another name is an alias of
        "pv-many",
        "1.0-1",
        {
            "/lib/systemd/system/pv-many@.service": unit_text("/bin/sleep infinity"),
            "/lib/systemd/system/pv-real.service": unit_text(
                "/bin/sleep infinity", "", "WantedBy=multi-user.target\nAlias=pv-also.service"
            ),
        },
    ),
    Package(
        "pv-older",
        "1.0-1",
        {"/lib/systemd/system/pv-older.service": unit_text("/bin/sleep infinity")},
        _masking("pv-older.service"),
    ),
    *(
        Package(
            "pv-stopping",
            version,
            {
                "/lib/systemd/system/pv-stopping.service": unit_text("/bin/sleep infinity"),
                "/usr/share/pv-stopping/version": version,
            },
            _stopping("pv-stopping.service"),
        )
        for version in ("1.0-1", "2.0-1")
    ),
    Package(  # a unit that takes another along and one out of the way, and makes directories
        "pv-needy",
        "1.0-1",
        {
            "/lib/systemd/system/pv-needy.service": "[Unit]\nRequires=pv-agent.service\n"
            + unit_text(
                "/bin/sleep infinity",
                "RuntimeDirectory=pv-needy\n[Unit]\nConflicts=pv-web.service\n",
            )
        },
        managed("pv-needy.service"),
        fields={"Depends": "pv-agent"},
    ),
    *(
        Package(  # units that are started and do not run
            name,
            "1.0-1",
            {f"/lib/systemd/system/{name}.service": unit_text(command, more)},
            managed(f"{name}.service"),
        )
        for name, command, more in (
            ("pv-once", "/bin/true", "Type=oneshot\n"),
            ("pv-lost", "/usr/bin/pv-not-there", ""),
        )
    ),
    Package(  # a mount
        "pv-mount",
        "1.0-1",
        {
            "/lib/systemd/system/srv-pv.mount": "[Mount]\nWhat=tmpfs\nWhere=/srv/pv\nType=tmpfs\n"
            "Options=size=16k,mode=0755\n[Install]\nWantedBy=multi-user.target\n"
        },
        managed("srv-pv.mount"),
    ),
    Package(  # units of which one is enabled with the other, and a script that stops a third
        "pv-both",
        "1.0-1",
        {
            "/lib/systemd/system/pv-both.service": unit_text(
                "/bin/sleep infinity", "", "WantedBy=multi-user.target\nAlso=pv-other.service"
            ),
            "/lib/systemd/system/pv-other.service": unit_text("/bin/sleep infinity"),
        },
        {
            **managed("pv-both.service"),
            "preinst": "systemctl stop pv-agent.service 2>/dev/null || true\n",
        },
    ),
    Package(  # a unit that never comes up
        "pv-lame",
        "1.0-1",
        {"/lib/systemd/system/pv-lame.service": unit_text("/usr/bin/pv-not-there")},
    ),
    Package(
        "pv-cron",
        "1.0-1",
        {"/etc/cron.d/pv-cron": "0 3 * * * root true\n"},
        {},
        ("/etc/cron.d/pv-cron",),
    ),
    *SCRIPTED,
    *DAEMONS,
)
