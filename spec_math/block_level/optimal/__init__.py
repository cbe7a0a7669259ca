"""Parts of the optimum of blocks: the drafted leaves, and the linear program over prefixes."""
