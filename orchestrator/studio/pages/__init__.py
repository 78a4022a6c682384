"""What the pages show: queries in, templates and their values out; knows no HTTP (controller)."""
