"""``ccm studio``: the stored runs of a fleet as pages for a browser (controller).

``index`` reads run directories into SQLite, ``pages`` queries it, ``web`` controls access. Only
``web`` uses Starlette and uvicorn.
"""
