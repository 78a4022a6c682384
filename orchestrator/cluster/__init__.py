"""Workers on other machines, which a Dask scheduler leads to (controller, and the workers).

``dask_engine`` is the engine of a run; ``post`` its door to the scheduler. On a worker ``relay``
carries messages between the scheduler and ``stand``, the process that stands for the controller.
"""
