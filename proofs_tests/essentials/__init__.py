"""The tests of `make test`: a matrix of rules, one of blocks, every command once, and the controls of every verdict."""
