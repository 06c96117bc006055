"""What browsers and programs send: bounded, and for forms with the session's CSRF token."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from adapters.web.console import visitor_of
from adapters.web.limits import LARGEST_BODY
from adapters.web.visitors import same_secret

FORM = "application/x-www-form-urlencoded"
CSRF = "csrf"  # the field of a form, and X-CSRF-Token of a script's request
MOST_FIELDS = 50


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form of ours; answers 4xx for anything else."""
    _expect(request, FORM)
    body = await bounded_body(request)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(400, "This form cannot be read.") from None
    fields = dict(pairs)
    shown = request.headers.get("x-csrf-token", fields.pop(CSRF, ""))
    check_csrf(request, shown)
    return fields


def check_csrf(request: Request, shown: str) -> None:
    """Answers 403 unless the request came from a page of this session."""
    if not same_secret(shown, visitor_of(request).csrf):
        raise HTTPException(403, "This page has been open for too long: reload it and try again.")


async def json_of(request: Request) -> Any:
    """The JSON of a request; answers 4xx for anything else."""
    _expect(request, "application/json")
    body = await bounded_body(request)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body is not JSON.") from None


async def bounded_body(request: Request) -> bytes:
    """The body; answers 413 for one that is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise HTTPException(413, f"At most {LARGEST_BODY:,} bytes can be taken.")
    return bytes(body)


def _expect(request: Request, kind: str) -> None:
    told = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if told != kind:
        raise HTTPException(415, f"Send it as {kind}.")
