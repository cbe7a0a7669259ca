"""All records of block methods: on K paths, on other shapes, and the best tree, which bounds the chosen ones."""

from spec_math.block_level import methods
from spec_math.block_level.methods import DELAYED, METHODS, Method

OTHERS: list[Method] = [one for one in vars(methods).values() if isinstance(one, Method) and one not in METHODS]
EVERY_METHOD: tuple[Method, ...] = (*METHODS, *OTHERS, *DELAYED.values())
