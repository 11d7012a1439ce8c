"""What the pipeline needs to know of a study: its stages, their inputs, and what identifies each of them."""
