"""Template languages of complete files (controller). Expressions are in a separate package."""
