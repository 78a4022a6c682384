"""The edit type: parts of a text file that others own."""
