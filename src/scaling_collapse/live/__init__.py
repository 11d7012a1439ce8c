"""While a run trains: alarm and predicted final loss, in any loop and in the loops of others."""
