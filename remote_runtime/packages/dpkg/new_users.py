"""The entries of users that the scripts of Debian packages create (target; previews only)."""

from typing import TYPE_CHECKING, Optional, Sequence

from remote_runtime.effects import OWN_GROUP
from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.login_defs import LoginRules
from remote_runtime.system.account_files import LOCKED, User

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.maintainer_scripts.account_commands import Account

_NOLOGIN = "/usr/sbin/nologin"  # of systemd-sysusers on Debian


def entry(account: "Account", created: "Sequence[Account]", context: "Context") -> Optional[User]:
    """Return the entry of a new user; None if it is not known. ``created`` are all accounts that
    the same package creates.
    """
    user = account.user
    others = {one.user for one in created if one[:2] == account[:2]}
    if user is None or len(others) != 1:
        return None
    rules = LoginRules(FileReader(context.files))
    gid = _group(account, created, context, rules)
    if gid is None:
        return None
    home, shell, shadow = user.home or "/", user.shell or _NOLOGIN, LOCKED + "*"
    if user.tool == "useradd":
        home = user.home or "%s/%s" % (rules.get("HOME"), account.name)
        shell, shadow = user.shell or rules.get("SHELL"), LOCKED
    if user.tool == "adduser":
        shadow = LOCKED
    return User(
        account.name,
        account.number,
        gid=gid,
        comment=user.comment,
        home=home,
        shell=shell,
        shadow=shadow,
    )


def _group(
    account: "Account", created: "Sequence[Account]", context: "Context", rules: LoginRules
) -> Optional[int]:
    """Return the number of the primary group; None if it is not known."""
    name = account.user.group if account.user else ""
    new = {one.name: one.number for one in created if one.kind == "group"}
    if name.isdigit():
        return int(name)
    if not name and account.user and account.user.tool == "useradd":
        there = context.accounts.number("group", account.name) is not None
        if there or rules.get("USERGROUPS_ENAB") != "yes":
            return None  # useradd fails, or chooses another group
    if name in ("", account.name):
        return OWN_GROUP
    number = context.accounts.number("group", name)
    if number is None:
        number = new.get(name, -1)
        return number if number >= 0 else None
    return number
