"""Where torch or transformers is not installed, the examples that need it are left out; its tests skip themselves."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["torch_bridge/*"]
collect_ignore_glob += [] if find_spec("transformers") else ["torch_bridge/engines/transformers_*"]
