"""How files of tests are shared among processes, also when one of these ends on its own."""

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

TOGETHER = ("tests/architecture/",)
"""Directories whose files stay together, too: each of them reads all sources."""


class WholeFiles(LoadFileScheduling):
    """The scheduler of ``--dist loadfile``; with it, all would wait for ever behind a process that
    the system has ended. It hands out anew what that one had done, as files without a test, and a
    process whose last file has one test never hears that nothing more comes."""

    def _split_scope(self, nodeid: str) -> str:
        """What is given to one process: a file, or a whole directory of ``TOGETHER``."""
        for directory in TOGETHER:
            if nodeid.startswith(directory):
                return directory
        return str(super()._split_scope(nodeid))

    def _reschedule(self, node: WorkerController) -> None:
        super()._reschedule(node)
        if node.shutting_down:
            return
        while self.workqueue and self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()
