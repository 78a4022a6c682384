"""``ccm studio``: shows the stored runs of a fleet in a browser (controller).

``index`` reads run directories into SQLite, ``pages`` queries it, ``web`` controls access. Only
``web`` uses Starlette and uvicorn.
"""
