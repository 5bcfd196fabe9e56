"""Frames between the engine and this process (engine/frames/frame.h), blocking, on one Unix socket."""

import array
import fcntl
import json
import os
import socket
import struct

_HEADER = struct.Struct("<IIQII")
_MAGIC = int.from_bytes(b"ASY1", "little")
_MAX_BODY_BYTES = 64 << 20
_MAX_DESCRIPTORS = 8
_BLOCK_BYTES = 1 << 16


class Frame:
    """A JSON body with "type", and descriptors that belong to whoever holds the frame. `lost`: how many more were sent, for
    which this process had no room."""

    def __init__(self, body, blob=b"", descriptors=(), lost=0):
        self.body = body
        self.blob = blob
        self.descriptors = list(descriptors)
        self.lost = lost


def _above_output(descriptor):
    """The same, never where output goes: a source that closed its standard output would print into what was lent."""
    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    nowhere = os.open(os.devnull, os.O_RDWR)  # not `descriptor`, which is taken until the next line
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return moved


class Channel:
    def __init__(self, descriptor):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=descriptor)
        self._pending = b""
        self._received = []

    def receive(self):
        """The next frame; None when the peer has gone."""
        header = self._take(_HEADER.size)
        if header is None:
            return None
        magic, body_bytes, blob_bytes, descriptors, _ = _HEADER.unpack(header)
        if magic != _MAGIC or body_bytes > _MAX_BODY_BYTES or blob_bytes > _MAX_BODY_BYTES:
            raise RuntimeError("the engine sent no frame")
        body = self._take(body_bytes)
        blob = self._take(blob_bytes)
        if body is None or blob is None:
            return None
        taken, self._received = self._received[:descriptors], self._received[descriptors:]
        return Frame(json.loads(body), blob, taken, descriptors - len(taken))

    def send(self, body, blob=b""):
        # What is no text (a lone surrogate in a user's message) would make it no JSON.
        text = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        self._socket.sendall(_HEADER.pack(_MAGIC, len(text), len(blob), 0, 0) + text + blob)

    def _take(self, count):
        while len(self._pending) < count:
            block, ancillary, _, _ = self._socket.recvmsg(
                max(_BLOCK_BYTES, count - len(self._pending)), socket.CMSG_SPACE(4 * _MAX_DESCRIPTORS),
                socket.MSG_CMSG_CLOEXEC)
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    whole = array.array("i")
                    whole.frombytes(data[:len(data) - len(data) % whole.itemsize])
                    self._received += map(_above_output, whole)
            if not block:
                return None
            self._pending += block
        taken, self._pending = self._pending[:count], self._pending[count:]
        return taken
