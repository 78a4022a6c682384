"""``ccm studio``: the stored runs of a fleet as pages for a browser (controller).

``index`` reads run directories into SQLite, ``pages`` answers from it, ``web`` decides who may ask.
Only ``web`` knows of Starlette and uvicorn.
"""
