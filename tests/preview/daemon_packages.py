"""Packages of the corpus whose daemons have accounts, directories and settings of their own."""

from __future__ import annotations

from tests.lab import Package

from .debhelper import managed


def _daemon(name: str, service: str, before: str = "", **fields: str) -> Package:
    """A service that is enabled and started once ``before`` ran in the postinst."""
    scripts = managed(f"{name}.service")
    unit = f"[Unit]\nDescription=corpus\n\n[Service]\nExecStart=/bin/sleep infinity\n{service}\n"
    return Package(
        name,
        "1.0-1",
        {f"/lib/systemd/system/{name}.service": f"{unit}[Install]\nWantedBy=multi-user.target\n"},
        {**scripts, "postinst": before + scripts["postinst"]},
        fields=fields,
    )


DAEMONS: tuple[Package, ...] = (
    _daemon(
        "pv-daemond",
        "User=pvdaemond\nGroup=pvdaemond\nStateDirectory=pv-daemond\nStateDirectoryMode=0750\n"
        "RuntimeDirectory=pv-daemond\n",
        "if ! getent passwd pvdaemond >/dev/null; then\n"
        "    useradd --system --no-create-home --home-dir /var/lib/pv-daemond"
        " --shell /usr/sbin/nologin pvdaemond\nfi\n",
    ),
    _daemon(
        "pv-members",
        "User=pvmember\nGroup=users\nStateDirectory=pv-members/data\nCacheDirectory=pv-members\n",
        "OWNER=pvmember\n"
        "id -u $OWNER >/dev/null 2>&1 || useradd -r -M -g users -d /var/lib/pv-members $OWNER\n",
    ),
    Package(
        "pv-crowd",
        "1.0-1",
        {"/usr/share/pv-crowd/version": "1\n"},
        {
            "postinst": "for name in pvone pvtwo; do\n"
            '    getent group "$name" >/dev/null || groupadd --system "$name"\n'
            '    getent passwd "$name" >/dev/null || useradd -r -N -M -g "$name" "$name"\n'
            "done\n"
            "usermod -a -G pvone pvtwo\n"
            "install -d -o pvone -g pvtwo -m 2750 /var/lib/pv-crowd\n"
        },
    ),
    Package(
        "pv-numbered",
        "1.0-1",
        {"/usr/share/pv-numbered/version": "1\n"},
        {
            "postinst": "groupadd -g 4801 pvnumber\n"
            "useradd -M -u 4802 -g pvnumber -d /srv/pv-numbered pvnumber\n"
            "mkdir -p /srv/pv-numbered\nchown -R pvnumber:pvnumber /srv/pv-numbered\n"
        },
    ),
    Package(
        "pv-farewell",
        "1.0-1",
        {"/usr/share/pv-farewell/version": "1\n"},
        {
            "postinst": "if getent passwd pvold >/dev/null; then userdel pvold; fi\n"
            "if getent group pvoldgroup >/dev/null; then groupdel pvoldgroup; fi\n"
        },
    ),
    Package(
        "pv-gecos",
        "1.0-1",
        {"/usr/share/pv-gecos/version": "1\n"},
        {
            "postinst": "account() {\n"
            '    useradd -r -M -c "Corpus (of $1)" -d "/var/lib/$1" "$@"\n}\n'
            "getent passwd pvgecos >/dev/null || account pvgecos\n"
            "groupadd -rf pvgecos\n"
            "useradd -rMg pvgecos pvshort\n"
        },
    ),
    Package(
        "pv-nameless",
        "1.0-1",
        {"/usr/share/pv-nameless/version": "1\n"},
        {"postinst": "useradd -M $(cat /srv/name)\n"},
    ),
    Package(
        "pv-renamer",
        "1.0-1",
        {"/usr/share/pv-renamer/version": "1\n"},
        {"postinst": "usermod -l pvnew pvold\ngroupmod -n pvnewgroup pvoldgroup\n"},
    ),
    Package(  # the group of its user is another one, which has a name and a number of its own
        "pv-grouped",
        "1.0-1",
        {
            "/usr/lib/sysusers.d/pv-grouped.conf": "g pvshared 4821\n"
            "u pvgrouped 4822:pvshared 'corpus' /var/lib/pv-grouped /usr/sbin/nologin\n",
        },
        {"postinst": "systemd-sysusers pv-grouped.conf\n"},
    ),
    Package(  # its user comes with its own group, and goes with its configuration
        "pv-leaver",
        "1.0-1",
        {"/usr/share/pv-leaver/version": "1\n"},
        {
            "postinst": "useradd --system --user-group --no-create-home --shell /bin/false"
            " --home-dir /var/lib/pv-leaver pvleaver\n",
            "postrm": 'if [ "$1" = purge ]; then userdel pvleaver >/dev/null 2>&1 || true; fi\n',
        },
    ),
    Package(  # more text than a host keeps of a package
        "pv-large",
        "1.0-1",
        dict.fromkeys(
            ("/etc/pv-large.conf", "/usr/share/pv-large/data"), "# comment\n" * 3000 + "size = 1\n"
        ),
        {"postinst": "[ -e /etc/pv-copy.conf ] || cp /usr/share/pv-large/data /etc/pv-copy.conf\n"},
        ("/etc/pv-large.conf",),
    ),
    Package(
        "pv-system",
        "1.0-1",
        {"/usr/share/pv-system/version": "1\n"},
        {
            "postinst": "adduser --system --group --quiet --gecos 'Corpus daemon'"
            " --home /var/lib/pv-system --no-create-home pvsystem\n"
            "adduser --system --quiet --home /nonexistent --no-create-home pvplain\n"
        },
        fields={"Depends": "adduser"},
    ),
    Package(  # its user goes before it does
        "pv-goer",
        "1.0-1",
        {"/usr/share/pv-goer/version": "1\n"},
        {
            "postinst": "useradd --system -U -M pvgoer\n",
            "prerm": 'if [ "$1" = remove ]; then userdel pvgoer; fi\n',
        },
    ),
    Package(  # activates triggers with words of its own
        "pv-activates",
        "1.0-1",
        {"/usr/share/pv-activates/version": "1\n"},
        {"postinst": "dpkg-trigger --no-await /usr/share/pv-plugins\n"},
    ),
    Package(
        "pv-activates-name",
        "1.0-1",
        {"/usr/share/pv-activates-name/version": "1\n"},
        {"postinst": 'if [ "$1" = configure ]; then\n    dpkg-trigger pv-naming || true\nfi\n'},
    ),
    Package(
        "pv-activates-one",
        "1.0-1",
        {"/usr/share/pv-activates-one/version": "1\n"},
        {"postinst": "which=pv-nam; dpkg-trigger --by-package=pv-activates-one ${which}ing\n"},
    ),
    Package(  # waits for a name, and for a directory of its own
        "pv-named",
        "1.0-1",
        {"/usr/share/pv-named/version": "1\n"},
        {
            "triggers": "interest pv-naming\n",
            "postinst": 'if [ "$1" = triggered ]; then\n'
            '    mkdir -p /var/lib/pv-named; echo "$2" > /var/lib/pv-named/names\nfi\n',
        },
    ),
    Package(  # awaits its own trigger, as readers of their own directories do
        "pv-selfish",
        "1.0-1",
        {"/usr/share/pv-selfish/version": "1\n"},
        {
            "triggers": "interest-noawait pv-selfish\n",
            "postinst": 'case "$1" in\n'
            "    triggered) mkdir -p /var/lib/pv-selfish; echo 1 > /var/lib/pv-selfish/ran ;;\n"
            "    configure) dpkg-trigger pv-selfish ;;\n"
            "esac\n",
        },
    ),
    Package(  # the configuration of its daemon is one that nobody brings, or that may be missing
        "pv-envful",
        "1.0-1",
        {
            "/lib/systemd/system/pv-envful.service": "[Unit]\nDescription=corpus\n\n[Service]\n"
            "EnvironmentFile=/etc/default/pv-envful\nEnvironmentFile=-/etc/pv-envful.more\n"
            "ExecStart=/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n"
        },
    ),
    Package(
        "pv-envful-started",
        "1.0-1",
        {
            "/lib/systemd/system/pv-envful-started.service": "[Unit]\nDescription=corpus\n\n"
            "[Service]\nEnvironmentFile=/etc/default/pv-envful-started\n"
            "ExecStart=/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n"
        },
        managed("pv-envful-started.service"),
    ),
    Package(  # keeps links of alternatives
        "pv-editor",
        "1.0-1",
        {"/usr/bin/pv-vi": "#!/bin/sh\nexit 0\n"},
        {
            "postinst": "update-alternatives --install /usr/bin/pv-edit pv-edit"
            " /usr/bin/pv-vi 50\n",
            "prerm": "update-alternatives --remove pv-edit /usr/bin/pv-vi\n",
        },
    ),
    Package(  # a configuration file that its daemon reads, beside one that a script writes
        "pv-settings",
        "1.0-1",
        {
            "/etc/default/pv-settings": "OPTIONS=--quiet\n",
            "/etc/pv-settings/main.conf": "include /etc/pv-settings/conf.d\n",
            "/lib/systemd/system/pv-settings.service": "[Unit]\nDescription=corpus\n"
            "ConditionPathExists=/etc/pv-settings/main.conf\n\n[Service]\n"
            "EnvironmentFile=-/etc/default/pv-settings\nExecStart=/bin/sleep infinity\n"
            "WorkingDirectory=/var/lib/pv-settings\n\n[Install]\nWantedBy=multi-user.target\n",
            "/var/lib/pv-settings/seed": "1\n",
        },
        managed("pv-settings.service"),
        conffiles=("/etc/default/pv-settings", "/etc/pv-settings/main.conf"),
    ),
)
