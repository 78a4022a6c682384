"""The project's file ``ccm.yaml`` and what commands take from around them (controller).

``settings`` is the one list of options that have other sources than flags, and which source wins;
``finding`` says which file counts and whether it is believed, ``reading`` what it says.
"""
