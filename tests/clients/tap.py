"""tap.py LOG COMMAND…: a stdio server that is COMMAND, with every line of both sides kept in LOG ("> " is the client's).

So that a test can see what an unmodified client really asked, and that each question was answered.
"""

import subprocess
import sys
import threading


def copy(source, target, mark, log, lock):
    for line in iter(source.readline, b""):
        with lock:
            log.write(mark + line)
            log.flush()
        try:
            target.write(line)
            target.flush()
        except BrokenPipeError:
            break
    try:
        target.close()
    except BrokenPipeError:
        pass


def main():
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = threading.Lock()
    with open(sys.argv[1], "ab") as log:
        back = threading.Thread(target=copy, args=(server.stdout, sys.stdout.buffer, b"< ", log, lock))
        back.start()
        copy(sys.stdin.buffer, server.stdin, b"> ", log, lock)
        back.join()
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
