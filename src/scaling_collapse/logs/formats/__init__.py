"""One module for each format: how it is recognised and how its losses are found."""
