"""Template languages for complete files (controller). Expressions are in a separate package."""
