"""The commands of ``sedil``, and whether a command line is one that they understand."""

from typer.main import get_command

from sedil.cli import app


def all_commands():
    """Every command and group of commands by its words, such as ``("sedil", "reproduce", "table1")``."""

    def below(words, command):
        yield words, command
        for name, part in getattr(command, "commands", {}).items():
            yield from below((*words, name), part)

    return dict(below(("sedil",), get_command(app)))


def parse(words):
    """Read the words that follow ``sedil``, as if it were called; an error if they make no sense."""
    group = get_command(app)
    context = group.make_context("sedil", list(words))
    while hasattr(group, "resolve_command"):
        name, group, words = group.resolve_command(context, list(words))
        context = group.make_context(name, list(words), parent=context)
