"""What a manifest is called wherever its checkout lies (controller)."""

import os


def manifest_identity(path: str) -> str:
    """The name of the repository's top folder and the path below that, as in ``site/web.yaml``.

    The absolute path where the manifest is in no repository. Contacts nothing, runs nothing.
    """
    whole = os.path.abspath(path)
    folder = os.path.dirname(whole)
    while True:
        name = os.path.basename(folder)
        if not name:
            return whole
        if os.path.lexists(os.path.join(folder, ".git")):  # a file in a worktree
            return os.path.join(name, os.path.relpath(whole, folder))
        folder = os.path.dirname(folder)
