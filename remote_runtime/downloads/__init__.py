"""Downloads over HTTP and HTTPS, for every type that uses URLs (both sides)."""
