"""Drivers of engines: programs of one file each that speak the lines of `engines.protocol`."""
