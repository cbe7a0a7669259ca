"""Array forms of the rules of one position, for whole batches of requests: each decides as its program does."""
