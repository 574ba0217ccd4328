"""``python -m sedil`` is the command ``sedil``."""

from sedil.cli import app

app()
