"""``python -m boulanger_env`` is the ``boulanger`` command."""

from boulanger_env.cli import main

main()
