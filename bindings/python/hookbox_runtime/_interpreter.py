"""Refuses subinterpreters.

Threads of the runtime enter Python in its main interpreter, so they would use the objects of another one there. CPython itself
refuses the import only from 3.12 on, and only in subinterpreters that are isolated.
"""

from __future__ import annotations

import importlib
import sys

try:
    interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
except ImportError:
    # A Python without the module has no way to make a subinterpreter.
    pass
else:
    if interpreters.get_current() != interpreters.get_main():
        raise ImportError("hookbox_runtime does not support subinterpreters: import it in the main interpreter of a process")
