"""Where the bytes of a trace file go."""

from __future__ import annotations

import os
import zlib
from typing import BinaryIO

from traces.errors import TraceError

__all__ = ["Output"]


class Output:
    """Where the bytes go: a descriptor, or a binary file object."""

    def __init__(self, target: str | os.PathLike[str] | int | BinaryIO) -> None:
        self.name = "<trace>"
        self.file: BinaryIO | None = None
        self.fd = -1
        self.owned = False
        if isinstance(target, int):
            self.fd = target
        elif isinstance(target, str | os.PathLike):
            self.name = os.fspath(target)
            try:
                self.fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            except OSError as error:
                raise TraceError(f"cannot write: {error.strerror}", self.name) from None
            self.owned = True
        else:
            self.file = target
        self.zip = zlib.compressobj(9, zlib.DEFLATED, 31, 9) if self.name.endswith(".gz") else None

    def write(self, data: bytes, flush: bool) -> None:
        if self.zip is None and self.file is None:
            try:
                written = os.write(self.fd, data)
            except OSError as error:
                raise TraceError(f"cannot write: {error.strerror}", self.name) from None
            if written < len(data):
                self._put(data[written:])
            return
        if self.zip is not None:
            data = self.zip.compress(data)
            if flush:
                data += self.zip.flush(zlib.Z_PARTIAL_FLUSH)  # all of it can be read, and two bytes less than a sync
        self._put(data)

    def _put(self, data: bytes) -> None:
        try:
            if self.file is not None:
                self.file.write(data)
                self.file.flush()
                return
            while data:
                data = data[os.write(self.fd, data) :]
        except OSError as error:
            raise TraceError(f"cannot write: {error.strerror}", self.name) from None

    def close(self) -> None:
        if self.zip is not None:
            self._put(self.zip.flush(zlib.Z_FINISH))
        self.release()

    def release(self) -> None:
        if self.owned:
            self.owned = False
            os.close(self.fd)
