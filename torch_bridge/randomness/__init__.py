"""torch's random numbers on a tape, so that unmodified code that uses torch is followed along every path."""
