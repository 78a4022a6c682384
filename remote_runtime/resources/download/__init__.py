"""The download type: files that are downloaded."""
