"""The text of a source, read as the interpreter reads it; what it gives up on is told with its line."""

import ast
import io
import linecache
import resource
import tokenize

from assay_runner.failure import Located

_MARK = "\ufeff"  # of byte order, which some editors put in front
_LONG = 500       # tokens: no statement that is written by hand has them


def read(text, file):
    """(text, tree, code): without a mark of byte order. From here on tracebacks know its lines."""
    text = text.removeprefix(_MARK)
    linecache.cache[file] = (len(text), None, _lines(text), file)
    try:
        tree = ast.parse(text, file)
        return text, tree, compile(text, file, "exec")
    except (MemoryError, RecursionError) as error:
        if isinstance(error, MemoryError) and _is_memory_scarce():
            raise
        raise Located("SyntaxError", f"too deeply nested: Python's own parser gave up ({type(error).__name__})",
                      _longest_statement(text), 1) from None


def _lines(text):
    """As the interpreter counts them: a form feed ends none."""
    return [line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _is_memory_scarce():
    """The parser says MemoryError of its own stack too: then most of what there is was never used."""
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return limit != resource.RLIM_INFINITY and used > limit / 2


def _longest_statement(text):
    """The line where the statement of most tokens begins; 0 if none is long."""
    line, most = 0, _LONG
    first, count = 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                continue
            first = first if count else token.start[0]
            count += 1
            if count > most:
                line, most = first, count
            if token.type == tokenize.NEWLINE:
                count = 0
    except (tokenize.TokenError, SyntaxError):  # it ends somewhere: what was long before that
        pass
    return line
