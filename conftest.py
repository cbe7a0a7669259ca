"""Where torch is not installed, the examples of torch_bridge are left out; its tests skip themselves."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["torch_bridge/*"]
