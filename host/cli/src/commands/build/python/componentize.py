"""Runs componentize-py, and says what it says without what is about itself."""

import re
import sys

from componentize_py import script

root = sys.argv.pop(1)
try:
    sys.exit(script())
except AssertionError as error:
    text = re.split(r"\n+(?:Caused by:|Stack backtrace:)", str(error))[0]
    # The author's folder is `/0` inside the component.
    sys.exit(re.sub(r'(File ")/0/', lambda found: found[1] + root + "/", text))
