"""Downloads over HTTP and HTTPS, for every type that gets something from a URL."""
