"""The protocol between controller and target: frames, blobs and requests (target)."""
