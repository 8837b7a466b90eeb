"""Runs a command and prints, as one line of JSON, its exit code, peak memory and time.

A process of its own, started without imports: the peak that the system reports for a child includes what its parent held when
it was started."""
import os
import sys
import time


def main():
    out, err, *command = sys.argv[1:]
    start = time.monotonic()
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, out, write, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, err, write, 0o600)])
    _, status, used = os.wait4(pid, 0)
    print('{"code": %d, "peak": %d, "cpu": %.3f, "wall": %.3f}' %
          (os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024, used.ru_utime + used.ru_stime, time.monotonic() - start))


if __name__ == "__main__":
    main()
