"""The edit type: parts of a text file that belongs to others."""
