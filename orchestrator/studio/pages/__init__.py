"""The content of the pages: turns queries into templates and their values, without HTTP
(controller).
"""
