"""`icb completion`: a script by which a shell completes verbs, options and their values."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from icb_pymc.cli.options import add_verb, say


class Option(NamedTuple):
    """An option: its spellings, what it is for, whether a value follows, and the values if they are few."""

    names: tuple[str, ...]
    purpose: str
    takes_value: bool
    values: tuple[str, ...]


class Command(NamedTuple):
    """What may follow a verb, or `icb` itself, whose name is empty."""

    name: str
    purpose: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "completion",
        "Print a script by which bash, zsh or fish completes verbs, options and the names of models.",
        'icb completion bash (in ~/.bashrc: eval "$(icb completion bash)"; in ~/.zshrc, after compinit: '
        'eval "$(icb completion zsh)"; in config.fish: icb completion fish | source)',
    )
    parser.add_argument("shell", choices=list(SCRIPTS), help="the shell that will run the script")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script, made from the parser itself."""
    from icb_pymc.cli import build_parser

    say(SCRIPTS[options.shell]([_command(name, parser) for name, parser in parsers(build_parser())]))
    return 0


def parsers(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """A parser and those of its sub-commands, by name: "", "fit", ..., "traces", "traces list", ..."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, child in action.choices.items():
                yield from parsers(child, f"{name} {word}".strip())


def _command(name: str, parser: argparse.ArgumentParser) -> Command:
    options: list[Option] = []
    words: list[str] = []
    for action in parser._actions:
        values = tuple(str(value) for value in action.choices or ())
        if action.option_strings:
            purpose = "" if action.help is None else parser._get_formatter()._expand_help(action)
            options.append(Option(tuple(action.option_strings), purpose, action.nargs != 0, values))
        else:
            words += _models() if action.dest == "model" else values
    return Command(name, parser.description or "", tuple(options), tuple(words))


def _models() -> list[str]:
    from icb_pymc.catalogue.built_in import built_in

    return [entry.name for entry in built_in()]


def _bash(commands: list[Command]) -> str:
    lines = [
        "# Completion of icb for bash; where nothing is known, names of files.",
        "_icb() {",
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= words=",
        "    COMPREPLY=()",
        "    (( COMP_CWORD > 1 )) && command=${COMP_WORDS[1]}",
        *_longer_names(
            commands, '(( COMP_CWORD > 2 )) && case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in', "COMP_WORDS[2]"
        ),
        '    case "$command $previous" in',
    ]
    for values, patterns in _values(commands).items():
        reply = f'COMPREPLY=($(compgen -W "{values}" -- "$current")); ' if values else ""
        lines.append(f"        {patterns}) {reply}return ;;")
    lines += ["    esac", '    case "$command" in']
    for command in commands:
        names = " ".join(name for option in command.options for name in option.names)
        lines.append(
            f'        "{command.name}") words="{" ".join(command.words)}"; [[ $current == -* ]] && words="{names}" ;;'
        )
    lines += [
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        "complete -o bashdefault -o default -F _icb icb",
    ]
    return "\n".join(lines)


def _zsh(commands: list[Command]) -> str:
    purposes = {command.name: command.purpose for command in commands}
    lines = [
        "#compdef icb",
        "# Completion of icb for zsh; where nothing is known, names of files.",
        "_icb() {",
        "    local command= previous=$words[CURRENT-1]",
        "    local -a candidates",
        "    (( CURRENT > 2 )) && command=$words[2]",
        *_longer_names(commands, '(( CURRENT > 3 )) && case "$words[2] $words[3]" in', "words[3]"),
        '    case "$command $previous" in',
    ]
    for values, patterns in _values(commands).items():
        lines.append(f"        {patterns}) {f'compadd -- {values}' if values else '_files'}; return ;;")
    lines += ["    esac", '    case "$command" in']
    for command in commands:
        options = [_described(name, option.purpose) for option in command.options for name in option.names]
        words = [_described(word, purposes.get(f"{command.name} {word}".strip(), "")) for word in command.words]
        lines.append(f'        "{command.name}") candidates=({" ".join(words)})')
        lines.append(f"            [[ $words[CURRENT] == -* ]] && candidates=({' '.join(options)}) ;;")
    lines += [
        "    esac",
        "    (( $#candidates )) && _describe icb candidates",
        "    [[ $words[CURRENT] == -* ]] || (( CURRENT == 2 )) || _files",
        "}",
        # As a file of the name _icb in fpath the function is called; a script that is evaluated defines it.
        'if [[ $funcstack[1] == _icb ]]; then _icb "$@"; else compdef _icb icb; fi',
    ]
    return "\n".join(lines)


def _fish(commands: list[Command]) -> str:
    lines = ["# Completion of icb for fish; where nothing is known, names of files."]
    purposes = {command.name: command.purpose for command in commands}
    for command in commands:
        below = [name.rpartition(" ")[2] for name in purposes if name and name.rpartition(" ")[0] == command.name]
        seen = [f"__fish_seen_subcommand_from {word}" for word in command.name.split()] or ["__fish_use_subcommand"]
        here = _quoted("; and ".join(seen))
        first = _quoted("; and ".join([*seen, f"not __fish_seen_subcommand_from {' '.join(below)}"])) if below else here
        for word in command.words:
            purpose = purposes.get(f"{command.name} {word}".strip(), "")
            only = " -f" if word in below else ""
            lines.append(f"complete -c icb -n {first}{only} -a {word}" + (f" -d {_quoted(purpose)}" if purpose else ""))
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r" * option.takes_value
            lines.append(f"complete -c icb -n {here} {names}{value} -d {_quoted(option.purpose)}")
    return "\n".join(lines)


SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _longer_names(commands: list[Command], case: str, second: str) -> list[str]:
    """Lines that add the second word to the name of the command, where it is one of two words."""
    longer = "|".join(f'"{command.name}"' for command in commands if " " in command.name)
    return [f"    {case}", f'        {longer}) command="$command ${{{second}}}" ;;', "    esac"]


def _values(commands: list[Command]) -> dict[str, str]:
    """Patterns of a command and an option that takes a value, by its values; none if they are not known."""
    patterns: dict[str, list[str]] = {}
    for command in commands:
        for option in command.options:
            if option.takes_value:
                patterns.setdefault(" ".join(option.values), []).extend(
                    f'"{command.name} {name}"' for name in option.names
                )
    return {values: "|".join(of_these) for values, of_these in patterns.items()}


def _described(word: str, purpose: str) -> str:
    return _quoted(f"{word}:{purpose}" if purpose else word)


def _quoted(text: str) -> str:
    """A text in single quotes, which these shells read as it stands."""
    return "'" + text.replace("'", "'\\''") + "'"
