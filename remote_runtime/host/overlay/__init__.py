"""The ports of a preview: what is called is checked and recorded (target)."""
