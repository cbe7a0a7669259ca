"""One test a theorem, named after it; controls that must fail, and oracles that compute each number another way."""
