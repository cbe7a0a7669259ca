"""Drafters of other vocabularies: compared, drawn, explained."""
