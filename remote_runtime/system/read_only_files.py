"""The read-only adapter of the file system, for previews (target)."""

from typing import Any, NoReturn, Type

from remote_runtime.errors import CcmError
from remote_runtime.system.files import Files


class ReadOnly(object):
    """Refuses calls that change the target; must precede ``Files`` among the bases of a class.

    Files that a run creates for its own work, in private directories, are not part of the target's
    state.
    """

    def _refuse(self, *given: Any, **named: Any) -> NoReturn:
        raise CcmError(
            "a preview must not change the host, but the type makes changes outside of its actions",
            kind="runtime.preview",
        )

    temporary = create_directory = set_attributes = set_directory_attributes = _refuse
    set_link_owner = set_one_of_many = sync_all = remove = remove_tree = _refuse


def read_only(files: Files) -> Files:
    """The same adapter with its caches, read-only."""
    kind: Type[Files] = type("ReadOnly" + type(files).__name__, (ReadOnly, type(files)), {})
    adapter = kind.__new__(kind)
    adapter.__dict__ = files.__dict__  # it is one run, whose results are cached
    return adapter
