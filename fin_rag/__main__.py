"""Run the command line: ``python -m fin_rag``."""

import sys

from fin_rag.cli import main

sys.exit(main())
