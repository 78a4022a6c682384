"""What every room of the controller may use; it knows none of them."""
