"""Tests of torch's random numbers on a tape."""
