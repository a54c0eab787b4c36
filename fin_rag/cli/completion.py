"""``fin-rag completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Final

SHELLS: Final = ("bash", "fish", "zsh")
_ACTION = argparse._SubParsersAction  # the only way to the sub-commands of a parser


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from fin_rag.cli import build_parser

    print(completion_script(build_parser(), options.shell))
    return 0


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for ``bash``, ``zsh`` or ``fish``; it is written from the parser and runs no Python.

    Example:
        >>> from fin_rag.cli import build_parser
        >>> "complete -o default -F _fin_rag fin-rag" in completion_script(build_parser(), "bash")
        True
    """
    words = {path: sorted(_words(one)) for path, one in _parsers(parser)}
    if shell == "fish":
        return "\n".join(_fish(parser))
    bash = _bash(words, _choices(parser))
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash}" if shell == "zsh" else bash


def _parsers(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield path, parser
    for action in parser._actions:
        if isinstance(action, _ACTION):
            for name, below in action.choices.items():
                yield from _parsers(below, f"{path} {name}".strip())


def _words(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, _ACTION):
            yield from action.choices
        elif not action.option_strings and action.choices:
            yield from map(str, action.choices)


def _choices(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for _, one in _parsers(parser):
        for action in one._actions:
            if action.choices and not isinstance(action, _ACTION):
                for option in action.option_strings:
                    found.setdefault(option, set()).update(map(str, action.choices))
    return {option: sorted(values) for option, values in sorted(found.items())}


def _bash(words: Mapping[str, list[str]], choices: Mapping[str, list[str]]) -> str:
    cases = "\n".join(f"        {quote(path)}) words={quote(' '.join(known))} ;;" for path, known in words.items())
    values = "\n".join(f"        {option}) words={quote(' '.join(known))} ;;" for option, known in choices.items())
    known = " ".join(quote(path) for path in words if path)
    return f"""_fin_rag() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path="" word words=""
    local known=({known}) one
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        for one in "${{known[@]}}"; do
            if [[ "$one" == "${{path:+$path }}$word" ]]; then path="$one"; break; fi
        done
    done
    case "$path" in
{cases}
    esac
    case "$previous" in
{values}
    esac
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
}}
complete -o default -F _fin_rag fin-rag"""


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    for path, one in _parsers(parser):
        seen = " and ".join(f"__fish_seen_subcommand_from {name}" for name in path.split())
        when = f"-n {quote(seen.replace(' and ', '; and '))}" if path else "-n __fish_use_subcommand"
        for action in one._actions:
            if isinstance(action, _ACTION):
                for choice in action._choices_actions:
                    yield f"complete -c fin-rag {when} -f -a {choice.dest} -d {quote(str(choice.help or ''))}"
            for option in action.option_strings:
                if option.startswith("--"):
                    values = f" -x -a {quote(' '.join(map(str, action.choices)))}" if action.choices else ""
                    told = quote(str(action.help or "").partition(" (default")[0].replace("%%", "%"))
                    yield f"complete -c fin-rag {when} -l {option[2:]}{values} -d {told}"
