"""The project file ``ccm.yaml`` and the sources of options (controller).

``settings`` lists the options with sources other than flags, and decides which source takes
precedence. ``discovery`` finds the project file and checks whether it is trusted. ``reader`` reads
it.
"""
