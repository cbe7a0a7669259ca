"""Array forms of the rules of blocks and trees, for whole batches of requests."""
