"""The archive type: archives that are downloaded, extracted and cleaned up."""

PORTS = ("http",)
