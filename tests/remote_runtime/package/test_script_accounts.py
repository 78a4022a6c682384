"""The accounts that commands of scripts make, remove and rename."""

import unittest

from remote_runtime.packages.maintainer_scripts import account_commands as script_accounts
from remote_runtime.packages.maintainer_scripts import changed_paths as script_calls
from remote_runtime.packages.maintainer_scripts import uncertainty as script_uncertainty
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.packages.maintainer_scripts.shell import Call


def read(*lines):
    return script_accounts.read([line.split() for line in lines])


class Accounts(unittest.TestCase):
    def test_users_and_their_groups(self):
        """shadow's tools make a group of the user's name, adduser --system makes none."""
        for line, kinds in (
            ("useradd -r app", ["user", "group"]),
            ("/usr/sbin/useradd -rM -g users app", ["user"]),
            ("useradd -rMgusers app", ["user"]),
            ("useradd --system --no-user-group app", ["user"]),
            ("useradd --gid=users app", ["user"]),
            ("adduser --system app", ["user"]),
            ("adduser --system --group --home /srv app", ["user", "group"]),
            ("adduser --system --ingroup users app", ["user"]),
            ("adduser --disabled-password --gecos x app", ["user", "group"]),
            ("adduser --group app", ["group"]),
            ("addgroup --system app", ["group"]),
            ("groupadd -f app", ["group"]),
            ("ls app", []),
        ):
            found = read(line).created
            self.assertEqual([one.kind for one in found if one.name == "app"], kinds, line)

    def test_home_directories(self):
        """useradd creates none for a system account, so its path is only a name."""
        for line, paths in (
            ("useradd -r -d /srv/app app", []),
            ("useradd --system --home-dir=/srv/app app", []),
            ("useradd -rMd /srv/app app", []),
            ("useradd -M -d /srv/app app", []),
            ("useradd -rm -d /srv/app app", ["/srv/app"]),
            ("useradd -d /srv/app app", ["/srv/app"]),
        ):
            call = Call(tuple(line.split()), certain=True)
            self.assertEqual(script_calls.changes(call), paths, line)

    def test_words_with_spaces(self):
        """A comment of several words is one word, not a second name."""
        found = script_accounts.read([["useradd", "-c", "The Daemon", "app"]])
        self.assertEqual([one.name for one in found.created], ["app", "app"])

    def test_numbers(self):
        """A number is known where the command names it."""
        for line, number in (
            ("useradd -u 4802 app", 4802),
            ("adduser --system --uid 12 app", 12),
            ("groupadd --gid=4801 app", 4801),
            ("useradd -g 4801 app", -1),
            ("useradd -u " + "9" * 5000 + " app", -1),
        ):
            self.assertEqual(read(line).created[0].number, number, line)

    def test_what_goes_or_gets_another_name(self):
        """With a user goes its own group; two names only change who is in a group."""
        self.assertEqual(
            read("userdel -r a", "groupdel b").removed,
            {("user", "a"), ("group", "a"), ("group", "b")},
        )
        self.assertEqual(read("deluser a b", "usermod -a -G b a").removed, set())
        self.assertEqual(
            read("usermod -l new old", "groupmod -g 12 team").renamed,
            {("user", "new"), ("user", "old"), ("group", "team")},
        )

    def test_no_account_is_made_of_a_variable_or_of_two_names(self):
        """A name that is not plain may be any; two names only join a group."""
        found = read("adduser $who", "adduser www-data ssl")
        self.assertEqual((found.created, found.nameless), ([], True))
        self.assertFalse(read("adduser www-data ssl").nameless)

    def test_what_is_not_known_then(self):
        """What goes is in doubt where it is there, what is renamed always, any where one comes."""
        calls = deb_scripts.read("", [["userdel", "a"], ["usermod", "-l", "c", "b"]])
        (found,) = script_uncertainty.of_accounts("pack", calls.accounts)
        asked = [
            ("user", "a", True),
            ("user", "a", False),
            ("user", "c", False),
            ("path", "a", True),
        ]
        self.assertEqual([found.covers(*one) for one in asked], [True, False, True, False])
        (found,) = script_uncertainty.of_accounts("pack", read("useradd $x"))
        self.assertEqual(
            [found.covers("user", "z", there) for there in (False, True)], [True, False]
        )
        self.assertEqual(script_uncertainty.of_accounts("pack", read("useradd x")), [])

    def test_accounts_of_sysusers(self):
        """A user has its group unless the line names one; a number is known where the file has
        it."""
        found = script_accounts.sysusers(
            "# x\nu web 4711 'a b' /srv\ng team -\nu! own 7:team\nm web team\n"
        )
        self.assertEqual(
            [tuple(account[:3]) for account in found],
            [("user", "web", 4711), ("group", "web", 4711), ("group", "team", -1),
             ("user", "own", 7)],
        )  # fmt: skip

    def test_fields_of_sysusers(self):
        """A line has comment, home and shell; specifiers and memberships leave them unknown."""
        text = "u a 7 'a b' /srv\nu b - - - /bin/sh\nu c - %H\nu d /etc\nu! e -\nu f -\nm f team\n"
        users = {one.name: one.user for one in script_accounts.sysusers(text) if one.kind == "user"}
        self.assertEqual(users["a"], script_accounts.NewUser("sysusers", "a b", "/srv", ""))
        self.assertEqual(users["b"], script_accounts.NewUser("sysusers", "", "", "/bin/sh"))
        self.assertEqual({users[name] for name in "cdef"}, {None})

    def test_fields_of_adduser(self):
        """A system user gets a group of its own on request; its home must be specified."""
        for line, expected in (
            ("adduser --system --home /h --gecos A app", ("A,,,", "/h", "", "nogroup")),
            ("adduser --quiet --system --group --home /h --shell /s app", ("", "/h", "/s", "")),
            ("adduser --system --home=/h --ingroup adm app", ("", "/h", "", "adm")),
        ):
            user = script_accounts.NewUser("adduser", *expected)
            self.assertEqual(read(line).created[0].user, user)
            self.assertEqual(read(line).amended, set())
        for line in (
            "adduser --system app",
            "adduser --home /h app",
            "adduser --system --home /h --conf /c app",
            "adduser --system --home /h --gecos a,b app",
        ):
            self.assertIsNone(read(line).created[0].user)
        self.assertIn("app", read("adduser app adm").amended or ())

    def test_fields_of_useradd(self):
        """Options that change anything else leave them unknown, and so do other commands."""
        user = script_accounts.NewUser("useradd", "x", "/srv", "/bin/sh", "users")
        found = read("useradd -r -M -c x -d /srv -s /bin/sh -g users app").created
        self.assertEqual([one.user for one in found], [user])
        for line in (
            "useradd app",
            "useradd -r -G adm app",
            "useradd -r -N app",
            "adduser --system app",
        ):
            self.assertIsNone(read(line).created[0].user)
        self.assertEqual(read("useradd -r app").amended, set())
        self.assertIn("app", read("useradd -r app", "usermod -aG adm app").amended or ())
        self.assertIsNone(read("chpasswd").amended)

    def test_numbers_that_are_none(self):
        """Other digits, or more than a number has, make an account of an unknown number."""
        for number in ("\u00b2", "9" * 5000):
            self.assertEqual(script_accounts.sysusers("g a " + number)[0].number, -1)
