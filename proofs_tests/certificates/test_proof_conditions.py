"""Each condition of the checker of proofs is needed: of its wrong versions none is taken for right."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from proofs_tests.certificates.checker_mutants import Case, survivors
from proofs_tests.certificates.proof_forgeries import SMALL, certificate
from proofs_tests.certificates.test_proof import BY_HAND, K_SEQ
from spec_math.certificates import check_proof

pytest.importorskip("z3")
