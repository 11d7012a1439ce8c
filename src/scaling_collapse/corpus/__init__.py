"""From text to token shards: fetching, cleaning, splitting, tokenising and sampling."""
