"""Downloads the files of a corpus from their public source, and checks that they are the right ones."""

from __future__ import annotations

import hashlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from corefine.corpora.registry import SPLITS, CorpusEntry
from corefine.errors import InputError
from corefine.files import sha256_of, write_atomically

HASHES = "sha256.json"
"""File beside the downloads, with the hashes that the registry does not know."""

TIMEOUT_SECONDS = 60
ATTEMPTS = 3
LARGEST = 256 * 2**20
"""No file of a corpus has more bytes than this. A longer response is not the file."""

Download = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """One source file on disk. `known` says whether its SHA-256 is in the registry or was taken on first use."""

    path: Path
    source: str
    split: str
    sha256: str
    known: bool


def fetch(entry: CorpusEntry, folder: Path, *, download: Download | None = None) -> Iterator[FetchedFile]:
    """Download every file of the corpus into `folder`, and yield each one whose hash is right.

    Files that are already there are checked and not downloaded again.
    """
    hashes = _read_hashes(folder / HASHES)
    for split in SPLITS:
        for source, expected in entry.files.get(split, {}).items():
            path = folder / source
            wanted = expected or hashes.get(source)
            if not (wanted and path.is_file() and sha256_of(path) == wanted):
                content = (download or https)(entry.url(source))
                found = hashlib.sha256(content).hexdigest()
                if wanted and found != wanted:
                    origin = "the registry" if expected else f"the first download (see {folder / HASHES})"
                    raise InputError(
                        f"{entry.url(source)} has SHA-256 {found}, but {origin} says {wanted}: "
                        "the file was altered on the way or at its source, and was not kept"
                    )
                write_atomically(path, content)
                if not wanted:
                    wanted = hashes[source] = found
                    write_atomically(folder / HASHES, json.dumps(hashes, indent=1, sort_keys=True).encode())
            yield FetchedFile(path, source, split, wanted, known=bool(expected))


def https(url: str) -> bytes:
    """The content at an https address. Raises `InputError` if a few attempts fail."""
    reason: Exception | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(2.0**attempt)
        try:
            with _opener().open(url, timeout=TIMEOUT_SECONDS) as response:
                content: bytes = response.read(LARGEST + 1)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                raise InputError(f"{url}: the server answered {error.code} {error.reason}") from error
            reason = error
        except OSError as error:
            reason = error
        else:
            if len(content) > LARGEST:
                raise InputError(f"{url} is larger than {LARGEST} bytes; this is not the file of the corpus")
            return content
    raise InputError(
        f"{url} cannot be reached ({reason}); try again later, or give --mirror a folder that has the corpus"
    )


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follows redirects as long as they stay encrypted."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if urlsplit(newurl).scheme != "https":
            raise InputError(f"{req.full_url} redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.build_opener(_OnlyHttps)
    opener.addheaders = [("User-Agent", "corefine")]
    return opener


def _read_hashes(path: Path) -> dict[str, str]:
    try:
        return {str(source): str(sha256) for source, sha256 in json.loads(path.read_bytes()).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it to start again") from error
