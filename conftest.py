"""Where torch or transformers is not installed, examples that need it are left out; tests skip themselves."""

from importlib.util import find_spec

collect_ignore_glob = ["spec_math/engines/drivers/*"]  # programs of other environments
collect_ignore_glob += [] if find_spec("torch") else ["torch_bridge/*", "spec_math/field/*"]
collect_ignore_glob += [] if find_spec("transformers") else ["spec_math/field/engines/transformers.py"]
