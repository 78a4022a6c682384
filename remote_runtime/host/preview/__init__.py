"""The ports of a preview: each call is checked and recorded (target)."""
