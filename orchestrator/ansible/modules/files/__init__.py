"""Converts ``file``, ``copy`` and ``template`` (controller)."""
