"""`python -m corefine` is the `corefine` command."""

from corefine.cli import main

main()
