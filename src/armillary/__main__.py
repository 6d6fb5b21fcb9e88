"""`python -m armillary` is the command `armillary`."""

import sys

from armillary.cli import main

if __name__ == "__main__":
    sys.exit(main())
