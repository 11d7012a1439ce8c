"""One module per text source; each turns its files into documents."""
