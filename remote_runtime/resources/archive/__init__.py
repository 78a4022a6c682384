"""The archive type: archives that are downloaded, extracted and cleaned up."""

PROVIDERS = ("http",)
