"""Workers on other machines, connected through a Dask scheduler (controller, and the workers).

``dask_engine`` is the engine of a run; ``scheduler_client`` is its connection to the scheduler. On
a worker, ``relay`` carries messages between the scheduler and ``remote_worker``, the process that
acts for the controller.
"""
