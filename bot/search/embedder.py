"""Embedders: models that convert texts to vectors, so that similar meanings are close together.

``Endpoint`` is one behind an OpenAI-compatible ``/v1/embeddings`` address:
https://platform.openai.com/docs/api-reference/embeddings/create. Only ``model`` and ``input`` are
sent: no value of ``encoding_format`` is accepted everywhere (Voyage rejects "float", old vLLM
"base64", and OpenRouter answers "base64" with nothing), and without it numbers are returned.
"""

from __future__ import annotations

import array
import asyncio
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import stamina

from bot.core.egress import Egress
from bot.core.errors import InvalidSetting, ProviderUnavailable, Refused
from bot.core.extras import need
from bot.core.settings import Settings
from bot.core.texts import said
from bot.search.engines import QUOTA_STATUSES, JsonApi
from bot.text.terms import estimate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx


Vector: TypeAlias = "array.array[float]"
"""A vector of unit length as 32-bit floats (type code ``f``)."""


class Embedder(Protocol):
    """A model that converts texts to vectors whose dot product is the cosine of their angle.

    ``model`` identifies it and changes whenever a text would get a different vector. ``name`` is
    its display name. Both methods raise ``Unavailable`` (try again later), ``Refused`` (wrong key,
    rejected request), ``InvalidSetting`` or ``Broken`` (unusable vectors).
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    async def embed_question(self, text: str) -> Vector:
        """The vector of a question, which should be close to those of passages that answer it."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of passages, in their order. Any number of texts of any length: the embedder
        makes batches, and truncates texts that are too long for the model."""
        ...


def unit(numbers: Iterable[float]) -> Vector:
    """Scale numbers to a vector of length 1. Raises ``ValueError`` if that is impossible."""
    vector = array.array("f", numbers)
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not math.isfinite(length) or length < 1e-12:
        raise ValueError("a vector without a direction")
    return array.array("f", [x / length for x in vector])


def fingerprint(*parts: str) -> str:
    """A short digest that changes when any of the parts changes."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


TITLE = said("embeddings-endpoint")
KEY, PLACE = "FOOTNOTE_EMBEDDINGS_API_KEY", "FOOTNOTE_EMBEDDINGS_URL"

MOST_TOKENS = 512  # of a text, by our own estimate: every model accepts them, most no more
BATCH_TEXTS = 32  # texts in one request, which servers with a low limit accept
BATCH_TOKENS = 16_000  # estimated tokens in one request
AT_ONCE = 2  # parallel requests
REQUEST_SECONDS = 60.0  # a model on a CPU needs time for a full batch
QUESTION_SECONDS = 5.0  # maximum time that a search waits for the vector of its question
MOST_REPLY_BYTES = 64_000_000  # 64 vectors of 4,096 numbers as JSON take 6 MB
ATTEMPTS = 5  # at one request
LONGEST_WAIT = 60.0  # seconds; an endpoint that requests a longer pause counts as down
CUTS = 3  # how often a single text is cut in half if it is rejected

Kind = Literal["query", "document"]


class Endpoint:
    """See the module docstring; implements ``Embedder``.

    ``url`` may end with ``/v1``, ``/v1/embeddings`` or neither. ``client`` is called when first
    needed; the client is closed by its owner.
    """

    def __init__(
        self,
        url: str,
        model: str,
        client: Callable[[], httpx.AsyncClient],
        *,
        key: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self.name = model
        self.model = fingerprint(model, query_prefix, passage_prefix, str(MOST_TOKENS))
        self._url = url
        self._client = client
        self._key = key
        self._prefixes: Mapping[Kind, str] = {"query": query_prefix, "document": passage_prefix}
        self._texts = BATCH_TEXTS  # per request; reduced when the endpoint is too slow

    async def embed_question(self, text: str) -> Vector:
        """See ``Embedder``. Tried once and only for a few seconds, because a user is waiting."""
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                (vector,) = await self._embed([self._worded(text, "query")], "query", attempts=1)
        except TimeoutError as error:
            raise ProviderUnavailable(said("search-slow", title=TITLE)) from error
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``Embedder``. Temporary failures are retried, after the pause that is requested."""
        worded = [self._worded(text, "document") for text in texts]
        turns = asyncio.Semaphore(AT_ONCE)

        async def embed(batch: list[str]) -> list[Vector]:
            async with turns:
                return await self._embed(batch, "document", attempts=ATTEMPTS)

        tasks = [asyncio.create_task(embed(batch)) for batch in _batches(worded, self._texts)]
        try:
            return [vector for found in await asyncio.gather(*tasks) for vector in found]
        finally:
            for task in tasks:
                task.cancel()

    def _worded(self, text: str, kind: Kind) -> str:
        return cut(self._prefixes[kind] + text, MOST_TOKENS)

    async def _embed(self, batch: list[str], kind: Kind, *, attempts: int) -> list[Vector]:
        """The vectors of one batch. If it is rejected or takes too long, its halves are tried: the
        server may accept fewer texts at once, or one of them may be too long."""
        try:
            return await self._ask(batch, kind, attempts)
        except _TooMuch as refused:
            if len(batch) == 1:
                return [await self._shortened(batch[0], kind, attempts, refused)]
        except _TooSlow:
            if len(batch) == 1:
                raise
            self._texts = min(self._texts, len(batch) // 2)
        middle = len(batch) // 2
        return [
            vector
            for half in (batch[:middle], batch[middle:])
            for vector in await self._embed(half, kind, attempts=attempts)
        ]

    async def _shortened(self, text: str, kind: Kind, attempts: int, refused: _TooMuch) -> Vector:
        for _ in range(CUTS):
            text = text[: len(text) // 2]
            if not text.strip():
                break
            try:
                return (await self._ask([text], kind, attempts))[0]
            except _TooMuch as again:
                refused = again
        raise refused

    async def _ask(self, batch: list[str], kind: Kind, attempts: int) -> list[Vector]:
        """Send one request; retry it while the endpoint is down or requests a pause."""
        body: dict[str, Any] = {"model": self.name, "input": batch}

        def try_again(error: Exception) -> bool | float:
            if not isinstance(error, ProviderUnavailable):
                return False
            if isinstance(error, _TooSlow) and len(batch) > 1:
                return False
            if error.retry_after is None:
                return True
            return error.retry_after if error.retry_after <= LONGEST_WAIT else False

        async for attempt in stamina.retry_context(
            on=try_again, attempts=attempts, timeout=None, wait_initial=0.5, wait_max=20.0
        ):
            with attempt:
                return await self._ask_once(body, len(batch))
        raise AssertionError("stamina returns or raises")

    async def _ask_once(self, body: Mapping[str, Any], count: int) -> list[Vector]:
        import httpx

        api = self._api()
        try:
            reply = await api.send("POST", "/embeddings", body=body)
        except ProviderUnavailable as error:
            if isinstance(error.__cause__, httpx.ReadTimeout):
                raise _TooSlow(error.sentence, detail=error.detail) from error
            raise
        detail = f"HTTP {reply.status}: {str(reply.data)[:300]}"
        if reply.status in QUOTA_STATUSES:
            raise Refused(said("embeddings-quota", key=KEY), detail=detail)
        if reply.status == 404:
            told = said("embeddings-unknown", title=TITLE, model=self.name, place=PLACE)
            raise Refused(told, detail=detail)
        if reply.status in (400, 413, 422):
            raise _TooMuch(
                f"{TITLE} does not accept the request (HTTP {reply.status}): check "
                "FOOTNOTE_EMBEDDINGS_MODEL.",
                detail=detail,
            )
        return self._vectors(api.answer(reply).data, count)

    def _api(self) -> JsonApi:
        return JsonApi(
            self._client(),
            base_of(self._url),
            title=TITLE,
            key=KEY if self._key else "",
            place=PLACE,
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            seconds=REQUEST_SECONDS,
            most_bytes=MOST_REPLY_BYTES,
        )

    def _vectors(self, data: Mapping[str, Any], count: int) -> list[Vector]:
        """The vectors of an answer in the order of the request, as given by ``index``."""
        listed = data.get("data")
        found: dict[int, Vector] = {}
        for place, each in enumerate(listed if isinstance(listed, list) else []):
            if not isinstance(each, dict):
                raise self._api().broken("an embedding that is not an object")
            try:
                found[int(each.get("index", place))] = unit(each.get("embedding", ()))
            except (TypeError, ValueError, OverflowError) as error:
                raise self._api().broken(f"an embedding that is not a vector: {error}") from error
        if found.keys() != set(range(count)) or len({len(each) for each in found.values()}) > 1:
            raise self._api().broken(f"{len(found)} vectors for {count} texts")
        return [found[place] for place in range(count)]


class _TooMuch(Refused):
    """A rejected request that may be accepted in smaller pieces."""


class _TooSlow(ProviderUnavailable):
    """A request that was accepted but not answered in time."""


def base_of(url: str) -> str:
    """The address to which ``/embeddings`` is appended: the configured one, up to ``/v1``.

    An address with a path that does not end in ``/v1`` keeps that path, which gateways need.
    """
    base = url.rstrip("/").removesuffix("/embeddings").rstrip("/")
    has_path = "/" in base.partition("://")[2]
    return base if has_path else f"{base}/v1"


def cut(text: str, max_tokens: int) -> str:
    """The beginning of a text, of at most ``max_tokens`` tokens by our estimate."""
    if estimate(text) <= max_tokens:
        return text
    low, high = 0, len(text)
    while low < high:  # binary search: the estimate grows with the text
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= max_tokens else (low, middle - 1)
    return text[:low]


def _batches(texts: Sequence[str], most: int) -> list[list[str]]:
    """The texts in their order, in lists of at most ``most`` texts and ``BATCH_TOKENS`` tokens."""
    batches: list[list[str]] = []
    room = 0
    for text in texts:
        tokens = estimate(text)
        if not batches or len(batches[-1]) >= most or tokens > room:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(text)
        room -= tokens
    return batches


def make_embedder(settings: Settings, client: Callable[[], httpx.AsyncClient]) -> Embedder | None:
    """Create the embedder of the settings, or return None if they configure none.

    ``client`` is called when a request is made. Raises ``InvalidSetting`` if the model's name, or
    the extra, is missing.
    """
    if not settings.embeddings_url:
        return None
    if not settings.embeddings_model:
        raise InvalidSetting(
            "FOOTNOTE_EMBEDDINGS_URL is set without FOOTNOTE_EMBEDDINGS_MODEL: name the model."
        )
    need("vectors", PLACE)
    from bot.search.embedder import Endpoint

    key = settings.embeddings_api_key
    return Endpoint(
        settings.embeddings_url,
        settings.embeddings_model,
        client,
        key=key.get_secret_value() if key else "",
        query_prefix=settings.embeddings_query_prefix,
        passage_prefix=settings.embeddings_passage_prefix,
    )


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder | None]:
    """``make_embedder`` with its own HTTP client, which is closed at the end."""
    clients: list[httpx.AsyncClient] = []

    def client() -> httpx.AsyncClient:
        import httpx

        if not clients:
            clients.append(httpx.AsyncClient(transport=Egress.of(settings).transport(httpx)))
        return clients[0]

    try:
        yield make_embedder(settings, client)
    finally:
        for each in clients:
            await each.aclose()
