"""One OpenTelemetry trace for each run, sent over OTLP when the run has ended.

The spans are those of the run's page. They come from the journal, so they are complete even if
several processes worked on the run. The trace's id begins with the run's id, which logs and pages
use. Model calls follow the GenAI semantic conventions
(https://opentelemetry.io/docs/specs/semconv/gen-ai/). No attribute contains text of a question, a
page or an answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from bot import __version__
from bot.core.egress import Egress
from bot.core.errors import StorageUnavailable
from bot.core.extras import need
from bot.core.logs import get_logger
from bot.core.settings import Settings
from bot.research.trace import ModelCall, Price, Trace, trace
from bot.research.trace import Span as Line
from bot.service.dispatch.attempts import Executor
from bot.storage.archive import Traces
from bot.storage.store import RunRecord, Store

if TYPE_CHECKING:
    import requests
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.trace import Span, Tracer

    Attributes = dict[str, str | int | float | tuple[str, ...]]

FAILED = ("failed", "not_found")  # states of a run that mark its span as an error
EXPORT_SECONDS = 3.0  # for sending a batch, retries included

log = get_logger()


@asynccontextmanager
async def exporting(
    settings: Settings, store: Store, executor: Executor, price: Price
) -> AsyncIterator[Executor]:
    """Yield the executor, wrapped so that it sends traces to the collector of the settings; unsent
    traces are sent on exit.

    Raises ``InvalidSetting`` if the extra is not installed.
    """
    need("otel", "FOOTNOTE_OTLP_URL")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # OpenTelemetry logs in many lines what ``_LoggingExporter`` logs in one.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    url = f"{settings.otlp_url.rstrip('/')}/v1/traces"
    # The exporter reads OTEL_EXPORTER_OTLP_HEADERS, …_CERTIFICATE and the like itself.
    exporter = _LoggingExporter(
        OTLPSpanExporter(endpoint=url, timeout=EXPORT_SECONDS, session=_session(settings)), url
    )
    named = Resource.create({SERVICE_VERSION: __version__})
    if str(named.attributes[SERVICE_NAME]).startswith("unknown_service"):  # no OTEL_SERVICE_NAME
        named = named.merge(Resource({SERVICE_NAME: "footnote"}))
    ids = _Ids()
    provider = TracerProvider(
        resource=named, id_generator=cast("IdGenerator", ids), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(cast("SpanExporter", exporter)))
    try:
        yield Exporting(executor, Traces(store), provider, ids, price)
    finally:
        await asyncio.to_thread(provider.shutdown)  # sends unsent traces


def _session(settings: Settings) -> requests.Session:
    """Return the HTTP session for the collector, with our proxy and certificates."""
    import requests
    from requests.adapters import HTTPAdapter

    egress = Egress.of(settings)

    class Believing(HTTPAdapter):
        """Trusts the certificates of the settings, besides OpenTelemetry's own."""

        def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
            context = egress.ssl_context("requests")
            super().init_poolmanager(*arguments, **options, ssl_context=context)

        def proxy_manager_for(self, *arguments: Any, **options: Any) -> Any:
            context = egress.ssl_context("requests")
            return super().proxy_manager_for(*arguments, **options, ssl_context=context)

    session = requests.Session()
    session.trust_env = False
    if proxy := egress.proxy_for(settings.otlp_url):
        session.proxies = {"http": proxy, "https": proxy}
    session.mount("https://", Believing())
    return session


class _LoggingExporter:
    """A ``SpanExporter`` that logs once when its collector stops accepting traces, and once when it
    accepts them again."""

    def __init__(self, exporter: SpanExporter, url: str) -> None:
        self._exporter = exporter
        self._url = url
        self._works = True

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        works = result.name == "SUCCESS"
        if works != self._works:
            self._works = works
            log.warning("traces are sent again" if works else "traces not sent", url=self._url)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True


class Exporting:
    """An ``Executor`` that sends a trace of each run it has finished."""

    def __init__(
        self,
        executor: Executor,
        traces: Traces,
        provider: TracerProvider,
        ids: _Ids,
        price: Price,
    ) -> None:
        self._executor = executor
        self._traces = traces
        self._ids = ids
        self._price = price
        self._tracer = provider.get_tracer("footnote", __version__)

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        """Process the run to its end, then send its trace."""
        await self._executor.answer(run, stop)
        try:
            kept = await self._traces.run(run.id)
        except StorageUnavailable as error:  # the run itself has ended; only its trace is missing
            log.info("trace not sent", run=run.id, error=str(error))
            return
        if kept is not None and kept.ended_at is not None:
            self._ids.trace_id = trace_id_of(run.id)
            export(trace(kept, self._price), self._tracer)


def trace_id_of(run_id: str) -> int:
    """Return the run's id (12 hexadecimal digits), padded with its digest: OpenTelemetry's samplers
    use the lower bits, which must therefore be evenly distributed."""
    digest = hashlib.sha256(run_id.encode()).hexdigest()
    return int((run_id + digest)[:32], 16)


class _Ids:
    """An OpenTelemetry ``IdGenerator`` that takes the id of the next trace from its run."""

    def __init__(self) -> None:
        self.trace_id = 0

    def generate_trace_id(self) -> int:
        return self.trace_id

    def generate_span_id(self) -> int:
        return random.getrandbits(64) or 1

    def is_trace_id_random(self) -> bool:
        return False


def export(traced: Trace, tracer: Tracer) -> None:
    """Create the spans of a finished run."""
    from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

    record = traced.record
    began = _nanoseconds(record.accepted_at)
    root = tracer.start_span(
        "invoke_workflow footnote",
        kind=SpanKind.CONSUMER,
        start_time=began,
        attributes=_of_run(traced),
    )
    if record.state in FAILED:
        root.set_status(Status(StatusCode.ERROR, record.state))
    spans: dict[str, Span] = {"": root}
    for line in traced.spans:  # children follow their parent
        if line.begin is None or line.end is None:
            continue
        call = traced.calls.get(line.id)
        span = tracer.start_span(
            f"chat {call.model}" if call else line.kind,
            context=set_span_in_context(spans.get(line.parent, root)),
            kind=SpanKind.CLIENT if call else SpanKind.INTERNAL,
            start_time=began + int(line.begin * 1e9),
            attributes=_of_line(line, call),
        )
        if line.state == "failed":
            span.set_status(Status(StatusCode.ERROR))
        spans[line.id] = span
        span.end(began + int(line.end * 1e9))
    root.end(_nanoseconds(traced.ended_at or record.accepted_at))


def _of_run(traced: Trace) -> Attributes:
    record, spent = traced.record, traced.spent
    found: Attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "footnote.run": record.id,
        "footnote.platform": record.message.thread.platform,
        "footnote.state": record.state,
        "footnote.attempts": record.attempt,
        "footnote.pages": len(traced.pages),
        "footnote.model_calls": spent.model_calls,
        "gen_ai.usage.input_tokens": spent.input_tokens + spent.cached_tokens,
        "gen_ai.usage.output_tokens": spent.output_tokens,
    }
    return found


def _of_line(line: Line, call: ModelCall | None) -> Attributes:
    found: Attributes = {"footnote.step": line.kind, "footnote.attempt": line.attempt}
    if call is not None:
        found |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": call.model,
            "gen_ai.response.model": call.model,
            "gen_ai.response.finish_reasons": (call.stop_reason,),
            "gen_ai.usage.input_tokens": call.input_tokens + call.cached_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
        }
        if call.usd is not None:
            found["footnote.usd"] = call.usd
    return found


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000
