"""Sessions, users, limits and routes; the only user of Starlette (controller)."""
