"""Files that appear whole or not at all, and folders that one process has to itself."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from corefine import files
from corefine.errors import InputError
from corefine.files import AtomicFiles, exclusive, is_hidden, lock_file, sha256_of, whole_folder, write_atomically


def test_the_content_is_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_no_folders(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()

    def fail() -> None:
        with AtomicFiles() as written:
            for name in ("new/one/file", "new/two", "old/file"):
                with written.open(tmp_path / name):
                    pass
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]


def test_files_come_together(tmp_path: Path) -> None:
    first, second = tmp_path / "deep" / "a", tmp_path / "b"
    with AtomicFiles() as files:
        for path in (first, second):
            with files.open(path) as stream:
                stream.write(b"1")
        assert not first.exists()
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"1")


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", b"1")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"1"


def test_hidden_paths() -> None:
    assert [path for path in ("a", ".a", ".git/a", "../a", "a/.b") if is_hidden(Path(path))] == [".a", ".git/a", "a/.b"]


def test_a_lock_names_who_holds_it(tmp_path: Path) -> None:
    with lock_file(tmp_path / "lock", "busy"), pytest.raises(InputError, match=rf"busy \(process {os.getpid()}\)"):
        lock_file(tmp_path / "lock", "busy")
    lock_file(tmp_path / "lock", "busy").close()


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_others_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write_atomically(tmp_path / "written", b"")
    assert stat.S_IMODE((tmp_path / "written").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_folder_is_for_one_process_at_a_time(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from corefine.files import exclusive\n"
        "with exclusive(pathlib.Path(sys.argv[1]), 'writing to'):\n"
        "    print('in', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(InputError, match="another process is writing to"), exclusive(tmp_path, "writing to"):
            pass
    finally:
        other.kill()
        other.communicate()
    with exclusive(tmp_path, "writing to"):  # the other was killed, and its lock with it
        pass
    with exclusive(tmp_path, "writing to"):
        pass


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "new" / "place"
    with pytest.raises(ValueError, match="no"), whole_folder(place) as made:  # noqa: PT012
        (made / "file").write_bytes(b"half")
        raise ValueError("no")
    assert list(place.parent.iterdir()) == []
    with whole_folder(place) as made:
        (made / "file").write_bytes(b"first")
        assert not place.exists()
    with whole_folder(place) as made:  # as another process would, a little later
        (made / "file").write_bytes(b"second")
    assert [path.name for path in place.parent.iterdir()] == ["place"]
    assert (place / "file").read_bytes() == b"first"


def test_a_hash_is_that_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert sha256_of(tmp_path / "file") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
