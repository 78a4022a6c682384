"""``python -m remote_runtime NONCE SHA256``: serve one run (target)."""

import sys
from typing import List, Optional


def main(arguments: Optional[List[str]] = None) -> int:
    """Serve one run on standard input and output; return the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 2:
        sys.stderr.write("usage: python -m remote_runtime NONCE SHA256\n")
        return 2
    from remote_runtime.session import serve

    return serve(given[0], given[1])


if __name__ == "__main__":
    sys.exit(main())
