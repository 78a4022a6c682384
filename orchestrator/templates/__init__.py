"""Template languages of whole files (controller). Expressions have a room of their own."""
