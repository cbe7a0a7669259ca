"""Tests of black boxes that may be looked at after every draw."""
