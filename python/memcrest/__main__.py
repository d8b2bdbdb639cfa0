"""`memcrest ...` and `python -m memcrest ...`: the program."""
import sys

from ._core import run


def main() -> int:
    code, out, err = run(sys.argv[1:])
    sys.stdout.write(out)
    sys.stderr.write(err)
    return code


if __name__ == "__main__":
    sys.exit(main())
