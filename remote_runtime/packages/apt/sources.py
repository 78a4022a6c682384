"""apt's planned sources, preferences and settings (target; in previews only)."""

import os
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

DIRECTORY = "/etc/apt"


def write_planned(
    files: "Files", planned: Sequence[str], place: str, directory: str = DIRECTORY
) -> str:
    """Create a directory in ``place`` with the planned content of ``directory``; return apt's
    settings for it.

    The ``planned`` files are copied from ``files``; the others are links. ``Unknowable`` if the
    content of such a file is unknown.
    """
    os.mkdir(place, 0o700)
    for name in files.entries(directory) if files.is_directory(directory) else ():
        path, made = os.path.join(directory, name), os.path.join(place, name)
        if not any((one + "/").startswith(path + "/") for one in planned):
            os.symlink(path, made)
        elif files.is_directory(path):
            os.mkdir(made, 0o700)
            for inner in files.entries(path):
                _copy(files, os.path.join(path, inner), os.path.join(made, inner))
        else:
            _copy(files, path, made)
    settings = place + ".conf"
    with open(settings, "w", encoding="utf-8") as file:
        file.write('Dir::Etc "%s/";\n' % place)
    return settings


def _copy(files: "Files", path: str, made: str) -> None:
    if files.is_directory(path):
        os.symlink(path, made)  # apt reads no directories in there
    elif files.exists(path):
        with open(made, "wb") as file:
            for block in files.blocks(path, follow=True):
                file.write(block)
