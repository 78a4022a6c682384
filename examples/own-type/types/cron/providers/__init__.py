"""One module per way to keep a job."""
