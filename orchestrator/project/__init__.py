"""The project file ``ccm.yaml`` and the sources of options (controller).

``settings`` lists the options with sources other than flags, and decides which source wins.
``discovery`` finds the project file and checks whether to trust it. ``reader`` reads it.
"""
