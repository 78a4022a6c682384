"""Package managers: installed and available versions, and the changes of a transaction."""
