"""Stand-ins for parts of other libraries, as far as published samplers use them."""
