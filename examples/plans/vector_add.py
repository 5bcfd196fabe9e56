"""A runner program for plans: z = x + y over files. Options as examples/plans/vector_add.yaml passes them."""

import struct
import sys

FORMATS = {"float32": "f", "float64": "d", "int32": "i"}


def read(path, letter):
    with open(path, "rb") as file:
        raw = file.read()
    return struct.unpack(f"<{len(raw) // struct.calcsize(letter)}{letter}", raw)


def main():
    options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    letter = FORMATS[options["-d"].split(",", maxsplit=1)[0]]
    x, y = (read(path, letter) for path in options["-i"].split(","))
    with open(options["-o"], "wb") as file:
        file.write(struct.pack(f"<{len(x)}{letter}", *(a + b for a, b in zip(x, y))))


if __name__ == "__main__":
    main()
