"""Where the bytes of a trace file go."""

from __future__ import annotations

import errno
import os
import zlib
from typing import BinaryIO

from traces.errors import TraceError

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

__all__ = ["Output"]

HIGH = (900, 600, 200, 3)  # numbers from which a descriptor is out of the way, the best first


class Output:
    """Where the bytes go: a descriptor, or a binary file object."""

    def __init__(self, target: str | os.PathLike[str] | int | BinaryIO) -> None:
        self.name = "<trace>"
        self.file: BinaryIO | None = None
        self.fd = -1
        self.owned = False
        self.path = ""
        self.identity: tuple[int, int] | None = None
        if isinstance(target, int):
            self.fd = target
        elif isinstance(target, str | os.PathLike):
            self.name = os.fspath(target)
            try:
                self.fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            except OSError as error:
                raise TraceError(f"cannot write: {error.strerror}", self.name) from None
            self.fd = _out_of_the_way(self.fd)
            self.owned = True
            self.path = os.path.abspath(target)
            self.identity = _identity(self.fd)
        else:
            self.file = target
        self.zip = zlib.compressobj(9, zlib.DEFLATED, 31, 9) if self.name.endswith(".gz") else None

    def write(self, data: bytes, flush: bool) -> None:
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
                try:
                    data = data[os.write(self.fd, data) :]
                except OSError as error:
                    if error.errno != errno.EBADF or not self.owned:
                        raise
                    self._reopen()
        except OSError as error:
            raise TraceError(f"cannot write: {error.strerror}", self.name) from None

    def check(self) -> None:
        """Before something is written, now and then: a program that closes descriptors it does not know closes ours,
        and the number may by now be that of a file of its own. Ours is opened again then.
        """
        if self.owned and _identity(self.fd) != self.identity:
            try:
                self._reopen()
            except OSError as error:
                raise TraceError(f"cannot write: {error.strerror}", self.name) from None

    def _reopen(self) -> None:
        self.owned = False  # the number is the program's
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        if _identity(fd) != self.identity:
            os.close(fd)
            raise OSError(errno.EBADF, "the program has closed the trace file, and another one has its name")
        self.fd = _out_of_the_way(fd)
        self.owned = True

    def close(self) -> None:
        try:
            if self.zip is not None:
                self._put(self.zip.flush(zlib.Z_FINISH))
        finally:
            self.release()

    def release(self) -> None:
        if self.owned:
            self.owned = False
            if _identity(self.fd) == self.identity:
                os.close(self.fd)


def _identity(fd: int) -> tuple[int, int] | None:
    """What file a descriptor stands for; None when it is closed."""
    try:
        facts = os.fstat(fd)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _out_of_the_way(fd: int) -> int:
    """The same file under a high number, where neither the program's files nor its clean-ups come by."""
    if fcntl is None:
        return fd
    for least in HIGH:
        try:
            moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, least)
        except OSError:  # beyond what the process may have
            continue
        os.close(fd)
        return moved
    return fd
