"""The options that have sources other than a flag, and their precedence (controller).

A flag takes precedence over the environment, then the project's file, then the default. Every start
of ccm imports this module, so it imports little.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from remote_runtime.errors import Position, UsageError

DEFAULT_FORKS = 50
FACTS_MAX_AGE = "1h"
DEFAULT_KEEP = 200
"""The number of runs to store."""


ROLLOUT = "rollout"
"""The flag that names a rollout of the project's file, and the group of its options."""


class Setting(NamedTuple):
    """An option by its name as a flag and in the file; ``variable`` in the environment.

    ``many``: a list; a variable is one entry of it. ``number``: an integer of 1 or more.
    ``in_file``: the project file may also set it, as ``key`` if the name differs. ``flag``: a flag
    may set it, and ``metavar`` is the placeholder for its value.
    """

    name: str
    variable: str
    meaning: str
    many: bool = False
    number: bool = False
    default: int | str | tuple[()] | None = None
    in_file: bool = True
    flag: bool = True
    metavar: str = "FILE"
    key: str = ""

    @property
    def word(self) -> str:
        """Its name in the project file."""
        return self.key or self.name


SETTINGS = (
    Setting(
        name="inventory",
        variable="CCM_INVENTORY",
        meaning="Inventory, as for `-i`",
        many=True,
    ),
    Setting(
        name="hiera",
        variable="CCM_HIERA_DATA",
        meaning="A file with data that overrides the manifest's, as for `--hiera`",
        many=True,
        default=(),
    ),
    Setting(
        name="data_dir",
        variable="CCM_DATA_DIR",
        meaning="Directory of data files, one for each entry of a hierarchy",
        default="",
        flag=False,
        key="data",
    ),
    Setting(
        name="source_hosts",
        variable="CCM_SOURCE_HOSTS",
        meaning="A host that may serve data over https without a digest",
        many=True,
        default=(),
        flag=False,
    ),
    Setting(
        name="facts_max_age",
        variable="CCM_FACTS_MAX_AGE",
        meaning="Maximum age of the stored facts of other hosts: a duration such as `10m`",
        default=FACTS_MAX_AGE,
        flag=False,
    ),
    Setting(
        name="registration",
        variable="CCM_REGISTRATION",
        meaning="Store of service registrations, as for `--registration`",
    ),
    Setting(
        name="nats",
        variable="CCM_NATS",
        meaning="NATS server of `kv://` and `kvGet()` (default: the server of `registration`)",
        flag=False,
    ),
    Setting(
        name="forks",
        variable="CCM_FORKS",
        meaning="Maximum number of hosts in parallel, as for `--forks`",
        number=True,
        default=DEFAULT_FORKS,
        metavar="N",
    ),
    Setting(
        name="engine",
        variable="CCM_ENGINE",
        meaning="Engine, as for `--engine`",
        default="auto",
        in_file=False,
        metavar="ENGINE",
    ),
    Setting(
        name="keep",
        variable="CCM_KEEP",
        meaning="Number of runs to keep, across all projects; older ones are removed",
        number=True,
        default=DEFAULT_KEEP,
        flag=False,
    ),
    Setting(
        name="history",
        variable="CCM_HISTORY",
        meaning="Where runs are shared: a directory, or the https address of a studio",
        flag=False,
        metavar="DIR|URL",
    ),
    Setting(
        name="signers",
        variable="CCM_SIGNERS",
        meaning="File that lists the people who may approve plans, as for `--signers`",
        in_file=False,
    ),
)


class ConfigScope(NamedTuple):
    """The context of a command: the manifest next to which the project file may be, "" for none.

    For the settings in ``without``, only flags are used.
    """

    manifest: str = ""
    without: Collection[str] = ()


class PositionedValue(NamedTuple):
    """A value of the project file, and its position."""

    value: Any
    position: Position


class Project(NamedTuple):
    """The content of the project file: settings, and the options of each rollout, by name.

    A rollout's value is true or false, or a list of ``PositionedValue`` words as a flag takes them.
    ``secrets`` has the form that ``key_sources`` accepts, and ``directory`` is the directory of the
    file. ``history_token`` has the ``file`` or the ``command`` of the token for the history.
    """

    settings: Mapping[str, PositionedValue] = {}
    rollouts: Mapping[str, Mapping[str, PositionedValue]] = {}
    secrets: Mapping[str, Any] = {}
    directory: str = ""
    history_token: Mapping[str, str] = {}


class ResolvedOption(NamedTuple):
    """The final value of an option, and its origin.

    ``origin`` is flag, environment, file or default; ``where`` the flag, the variable or the
    position in the file, "" for a default.
    """

    value: Any
    origin: str
    where: str


def resolve_options(
    given: Mapping[str, Any],
    written: Mapping[str, PositionedValue],
    environ: Mapping[str, str],
    without: Collection[str] = (),
) -> dict[str, ResolvedOption]:
    """The final value of each setting in ``given``, where None means that there is no flag.

    ``written`` has the values of the project file. For the names in ``without``, only flags are
    used. UsageError for an invalid variable.
    """
    return {
        setting.name: _resolved(setting, given[setting.name], written=written, environ=environ)
        if setting.name not in without
        else _from_flag(setting, given[setting.name])
        for setting in SETTINGS
        if setting.name in given
    }


def _resolved(
    setting: Setting,
    given: Any,
    *,
    written: Mapping[str, PositionedValue],
    environ: Mapping[str, str],
) -> ResolvedOption:
    if given is not None:
        return _from_flag(setting, given)
    text = environ.get(setting.variable, "")
    if text:
        return ResolvedOption(_read(setting, text), "environment", setting.variable)
    found = written.get(setting.name)
    if found is not None:
        return ResolvedOption(found.value, "file", str(found.position))
    return _from_flag(setting, None)


def _from_flag(setting: Setting, given: Any) -> ResolvedOption:
    if given is None:
        default = setting.default
        return ResolvedOption(
            list(default) if isinstance(default, tuple) else default, "default", ""
        )
    return ResolvedOption(given, "flag", f"--{setting.name}")


def _read(setting: Setting, text: str) -> Any:
    if not setting.number:
        return [text] if setting.many else text
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"{setting.variable} is {text[:40]!r}, not a positive integer",
            hint="set it to a positive integer, or unset it",
        )
    return int(text)
