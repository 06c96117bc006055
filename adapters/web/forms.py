"""Reads forms and JSON from browsers and programs, with size limits and, for forms, a check of the
session's CSRF token."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from adapters.web.console import texts_of, visitor_of
from adapters.web.limits import LARGEST_BODY
from adapters.web.uploads import PARTS, Form, form_of_parts
from adapters.web.visitors import same_secret

FORM = "application/x-www-form-urlencoded"
CSRF = "csrf"  # the field of a form, and X-CSRF-Token of a script's request
MOST_FIELDS = 50


async def question_form_of(request: Request, largest: int) -> Form:
    """Read a form that may contain files of at most ``largest`` bytes each; respond with 4xx to
    anything else."""
    if not kind_is(request, PARTS):
        return Form.of(await _pairs(request))
    if (shown := request.headers.get("x-csrf-token")) is not None:
        check_csrf(request, shown)  # before anything large is read
    form = await form_of_parts(request, largest, texts_of(request))
    if shown is None:
        check_csrf(request, form.fields.pop(CSRF, ""))
    return form


async def form_of(request: Request) -> dict[str, str]:
    """Read the fields of a form; respond with 4xx to anything else."""
    return dict(await _pairs(request))


async def _pairs(request: Request) -> list[tuple[str, str]]:
    _expect(request, FORM)
    body = await bounded_body(request)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(400, "This form cannot be read.") from None
    shown = next((value for name, value in pairs if name == CSRF), "")
    check_csrf(request, request.headers.get("x-csrf-token", shown))
    return [(name, value) for name, value in pairs if name != CSRF]


def check_csrf(request: Request, shown: str) -> None:
    """Respond with 403 unless the request came from a page of this session."""
    if not same_secret(shown, visitor_of(request).csrf):
        raise HTTPException(403, "This page has been open for too long: reload it and try again.")


async def json_of(request: Request) -> Any:
    """Read the JSON of a request; respond with 4xx to anything else."""
    _expect(request, "application/json")
    body = await bounded_body(request)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body is not JSON.") from None


async def bounded_body(request: Request) -> bytes:
    """Read the body; respond with 413 if it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise HTTPException(413, f"The request is larger than {LARGEST_BODY:,} bytes.")
    return bytes(body)


def _expect(request: Request, kind: str) -> None:
    if not kind_is(request, kind):
        raise HTTPException(415, f"Send it as {kind}.")


def kind_is(request: Request, kind: str) -> bool:
    """Return True if a request's body has this media type."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == kind
