"""The most that each command of a maintainer script can change (target; in previews only).

This is the only list of known commands. Each row has its reason. A command without a row may change
anything below ``OPEN``.
"""

from typing import Dict, NamedTuple, Tuple

OPEN = ("/etc", "/var", "/srv", "/run")


ACCOUNT = "it changes accounts, which are predicted separately"


class Known(NamedTuple):
    """Commands of one kind; ``reason`` explains what they can change at most.

    ``writes`` are paths, with everything below them, or patterns of ``fnmatch``; ``named``: every
    path in their arguments, too.
    """

    reason: str
    names: str
    writes: Tuple[str, ...] = ()
    named: bool = False


ROWS = (
    Known(
        "it reads and prints",
        "echo printf cat grep egrep fgrep zgrep cut tr head tail wc sort uniq awk mawk gawk"
        " stat ls readlink realpath dirname basename date uname hostname id getent whoami"
        " groups pgrep pidof ps expr seq sleep cmp diff comm md5sum sha1sum sha256sum"
        " sha512sum base64 fold tac rev od which type test lsb_release arch nproc getconf"
        " locale df du mountpoint findmnt lsattr file dpkg-query dpkg-vendor dpkg-architecture"
        " apt-config apt-cache debconf-show ucfq lsmod ischroot systemd-detect-virt aa-enabled"
        " aa-status netstat ss lsof tty iptables-save ip6tables-save ypwhich ypcat ldd strings"
        " dpkg-deb nl paste join column mktemp db_get db_fget db_metaget phpquery a2query"
        " pg_checksystem printenv ifquery",
    ),
    Known(
        "it writes to the terminal or to the log",
        "logger tput clear stty wall write",
    ),
    Known(
        "it changes debconf's own database only",
        "db_version db_input db_go db_set db_fset db_reset db_subst db_capb db_title"
        " db_settitle db_stop db_unregister db_register db_purge db_clear db_info"
        " db_beginblock db_endblock db_progress db_x_loadtemplatefile debconf-set-selections"
        " debconf-communicate db_block",
        ("/var/cache/debconf",),
    ),
    Known(
        "it acts on units, which are predicted separately",
        "deb-systemd-helper deb-systemd-invoke systemctl invoke-rc.d service systemd-update-helper",
    ),
    Known(
        "it creates and removes the links that start a script of /etc/init.d",
        "update-rc.d rc-update",
        ("/etc/rc?.d/*", "/etc/runlevels/*"),
    ),
    Known(
        "it notifies the kernel or a running daemon, and writes no file",
        "udevadm dbus-send busctl kill pkill killall modprobe rmmod telinit initctl init"
        " apparmor_parser systemd-notify rndc apache2_msg loginctl networkctl resolvectl ip"
        " ifconfig route killall5 sync chronyc sysctl iptables ip6tables nft ipset",
    ),
    Known(
        ACCOUNT,
        "adduser useradd addgroup groupadd usermod groupmod deluser userdel delgroup groupdel"
        " gpasswd passwd chsh chfn chage pwconv grpconv newusers",
        named=True,
    ),
    Known(
        "it creates the accounts of sysusers.d",
        "systemd-sysusers",
    ),
    Known(
        "it changes only the paths that it is given",
        "mkdir rmdir rm mv cp ln install touch chown chgrp chmod setfacl truncate chattr"
        " setcap restorecon chcon mknod mkfifo unlink tee gzip gunzip bzip2 xz dd shred patch"
        " dpkg-statoverride ssh-keygen",
        named=True,
    ),
    Known(
        "it moves the path that it is given out of the way of other packages",
        "dpkg-divert",
        named=True,
    ),
    Known(
        "it installs a missing configuration file, or puts it next to an edited one",
        "ucf",
        ("/var/lib/ucf",),
        named=True,
    ),
    Known("it records the package of a configuration file", "ucfr", ("/var/lib/ucf",)),
    Known(
        "it maintains the links of alternatives",
        "update-alternatives",
        ("/etc/alternatives", "/var/lib/dpkg/alternatives", "/var/log/alternatives.log"),
        named=True,
    ),
    Known(
        "it activates a trigger, which is processed separately",
        "dpkg-trigger",
    ),
    Known(
        "its effects are declared and predicted",
        "dpkg-maintscript-helper systemd-tmpfiles",
    ),
    Known(
        "it compiles files below /usr to byte code",
        "py3compile pycompile pypycompile pypy3compile py3clean pyclean pypyclean pypy3clean"
        " update-python-modules dh_python3-link",
        ("*/__pycache__*", "*.pyc"),
    ),
    Known(
        "it maintains the cache of the dynamic linker",
        "ldconfig",
        ("/etc/ld.so.cache*", "/var/cache/ldconfig"),
    ),
    Known(
        "it maintains the index of manual pages",
        "mandb",
        ("/var/cache/man",),
    ),
    Known(
        "it maintains the index of info pages",
        "install-info update-info-dir ginstall-info",
        ("/usr/share/info",),
    ),
    Known(
        "it updates a cache of files below /usr/share",
        "update-mime-database update-desktop-database gtk-update-icon-cache"
        " update-icon-caches glib-compile-schemas gio-querymodules gdk-pixbuf-query-loaders"
        " update-gtk-immodules fc-cache update-fonts-dir update-fonts-scale update-fonts-alias"
        " appstreamcli gtk-query-immodules-2.0 gtk-query-immodules-3.0 update-vlc-plugin-cache",
        (
            "/usr/share",
            "/usr/lib",
            "/var/cache/fontconfig",
            "/var/cache/app-info",
            "/var/cache/swcatalog",
            "/var/lib/swcatalog",
        ),
    ),
    Known(
        "it maintains the list of programs by MIME type",
        "update-mime",
        ("/etc/mailcap*", "/etc/mailcap.order", "/var/lib/mime-support"),
    ),
    Known(
        "it maintains the menus",
        "update-menus",
        ("/var/lib/menu-xdg", "/usr/share/applications", "/etc/menu-methods", "/var/lib/menu"),
    ),
    Known(
        "it maintains the catalog of messages of the journal",
        "journalctl",
        ("/var/lib/systemd/catalog", "/var/log/journal"),
    ),
    Known(
        "it maintains the database of hardware",
        "systemd-hwdb",
        ("/etc/udev/hwdb.bin", "/usr/lib/udev/hwdb.bin", "/lib/udev/hwdb.bin"),
    ),
    Known(
        "it maintains the initial RAM file systems",
        "update-initramfs mkinitramfs",
        ("/boot", "/var/lib/initramfs-tools"),
    ),
    Known(
        "it maintains the boot menu",
        "update-grub update-grub2 grub-mkconfig",
        ("/boot/grub",),
    ),
    Known(
        "it lists the kernel's modules",
        "depmod",
        ("/lib/modules", "/usr/lib/modules"),
    ),
    Known(
        "it maintains the list of certificates",
        "update-ca-certificates c_rehash",
        ("/etc/ssl/certs", "/etc/ca-certificates/update.d/*"),
    ),
    Known(
        "it maintains the list of shells",
        "add-shell remove-shell update-shells",
        ("/etc/shells*", "/var/lib/shells.state*"),
    ),
    Known(
        "it maintains the stacks of PAM",
        "pam-auth-update",
        ("/etc/pam.d/common-*", "/var/lib/pam"),
    ),
    Known(
        "it maintains the list of binary formats",
        "update-binfmts",
        ("/var/lib/binfmts", "/var/cache/binfmts", "/proc/sys/fs/binfmt_misc"),
    ),
    Known(
        "it maintains the catalog of XML",
        "update-xmlcatalog update-catalog",
        ("/etc/xml", "/etc/sgml", "/var/lib/xml-core", "/var/lib/sgml-base"),
    ),
    Known(
        "it compiles for Emacs",
        "emacs-package-install emacs-package-remove emacs-install emacs-remove",
        ("/usr/share/emacs*", "/var/lib/emacsen-common", "/etc/emacs*"),
    ),
    Known(
        "it maintains the files of TeX",
        "mktexlsr updmap-sys fmtutil-sys update-texmf tl-paper texhash update-updmap"
        " update-language update-fmtutil",
        ("/var/lib/texmf", "/etc/texmf", "/usr/share/texlive", "/var/lib/tex-common"),
    ),
    Known(
        "it maintains the dictionaries",
        "update-dictcommon-aspell update-dictcommon-hunspell update-default-ispell"
        " update-default-wordlist update-default-aspell installdeb-aspell",
        (
            "/etc/dictionaries-common",
            "/var/cache/dictionaries-common",
            "/usr/share/dict",
            "/var/lib/dictionaries-common",
            "/var/lib/aspell",
        ),
    ),
    Known(
        "it maintains the dictionaries of PostgreSQL",
        "pg_updatedicts",
        ("/var/cache/postgresql", "/usr/share/postgresql"),
    ),
    Known(
        "it enables and disables parts of Apache",
        "a2enmod a2dismod a2ensite a2dissite a2enconf a2disconf apache2_invoke apache2_reload"
        " apache2_switch_mpm",
        ("/etc/apache2/*-enabled", "/var/lib/apache2"),
    ),
    Known(
        "it enables and disables parts of PHP",
        "phpenmod phpdismod php_invoke php_enable",
        ("/etc/php", "/var/lib/php/modules"),
    ),
    Known(
        "it enables and disables parts of lighttpd",
        "lighty-enable-mod lighty-disable-mod",
        ("/etc/lighttpd/conf-enabled", "/var/lib/lighttpd"),
    ),
    Known(
        "it sets the locale of the system",
        "update-locale localectl",
        ("/etc/default/locale", "/etc/locale.conf"),
    ),
    Known(
        "it compiles the locales",
        "locale-gen localedef",
        ("/usr/lib/locale",),
    ),
    Known(
        "it maintains the aliases' database",
        "newaliases runnewaliases postalias postmap",
        ("/etc/aliases.db", "/etc/postfix/*.db", "/etc/postfix/*.lmdb"),
        named=True,
    ),
    Known(
        "it maintains services of inetd",
        "update-inetd",
        ("/etc/inetd.conf*", "/etc/xinetd.d"),
    ),
    Known(
        "it maintains services of runit",
        "runit-helper update-service sysuser-helper sv cpsv",
        ("/etc/runit", "/etc/service", "/etc/sv", "/var/lib/runit", "/run/runit", "/var/log/runit"),
    ),
    Known(
        "it creates a certificate for the host's own name",
        "make-ssl-cert",
        ("/etc/ssl/certs", "/etc/ssl/private"),
        named=True,
    ),
)
KNOWN: Dict[str, Known] = {name: row for row in ROWS for name in row.names.split()}
