"""Jobs of cron."""

PROVIDERS = ("cron_d", "crontab")
