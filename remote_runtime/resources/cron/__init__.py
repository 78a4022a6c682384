"""Jobs of cron."""
