"""A run as a trace: what the program sends to an OpenTelemetry collector."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.operation.telemetry import trace_id_of
from tests.fakes.claude import FakeClaude
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer

QUESTION = "Could you tell me when the band AC/DC was formed, and in which city?"


class Collector:
    """Takes traces over OTLP; ``bodies`` are as they came, ``spans`` what is in them."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.spans: list[Span] = []
        self.app = Starlette(routes=[Route("/v1/traces", self._traces, methods=["POST"])])

    async def _traces(self, request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.bodies.append(body)
        told = ExportTraceServiceRequest.FromString(body)
        for resource in told.resource_spans:
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return Response(media_type="application/x-protobuf")


@pytest.fixture
def collector() -> Collector:
    return Collector()


@pytest.fixture
def footnote(tmp_path: Path, fork_server: ForkServer, collector: Collector) -> Iterator[Program]:
    claude, wiki = FakeClaude(), FakeWiki()
    with (
        serve(claude) as claude_url,
        serve(wiki.app) as wiki_url,
        serve(collector.app) as collector_url,
    ):
        settings = {
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": claude_url,
            "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
            "FOOTNOTE_OTLP_URL": collector_url,
        }
        yield Program(tmp_path, settings, fork_server)


def attributes(span: Span) -> dict[str, object]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value")
        for each in span.attributes
    }


def test_a_run_is_one_trace_with_its_steps_and_model_calls(
    footnote: Program, collector: Collector
) -> None:
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    answer = ended.json
    spans = collector.spans
    (trace_id,) = {span.trace_id.hex() for span in spans}
    assert trace_id.startswith(answer["run"])
    (root,) = [span for span in spans if not span.parent_span_id]
    told = attributes(root)
    assert (told["footnote.state"], told["footnote.platform"]) == ("answered", "terminal")
    ids = {span.span_id for span in spans}
    assert all(span.parent_span_id in ids for span in spans if span is not root)
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano for span in spans)
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)

    calls = [each for each in map(attributes, spans) if each.get("gen_ai.operation.name") == "chat"]
    assert len(calls) == answer["usage"]["model_calls"] == told["footnote.model_calls"]
    sent = answer["usage"]["input_tokens"] + answer["usage"]["cached_tokens"]
    assert sum(int(str(each["gen_ai.usage.input_tokens"])) for each in calls) == sent
    names = {span.name for span in spans}
    assert {"search", "read"} <= names


def test_samplers_keep_their_share_of_runs() -> None:
    sampler = TraceIdRatioBased(0.25)
    kept = [
        sampler.should_sample(None, trace_id_of(f"{run:012x}"), "run").decision
        for run in range(1_000)
    ]
    assert 200 < kept.count(Decision.RECORD_AND_SAMPLE) < 300


def test_a_trace_has_no_words_of_the_question_or_of_pages(
    footnote: Program, collector: Collector
) -> None:
    ended = footnote.run("ask", "--json", QUESTION)
    body = b"".join(collector.bodies).decode("latin-1")
    assert body
    for words in ("AC/DC", "formed", "Sydney", ended.json["citations"][0]["title"]):
        assert words not in body


def test_a_collector_that_is_away_costs_no_answer(footnote: Program) -> None:
    settings = {**footnote.settings, "FOOTNOTE_OTLP_URL": "http://127.0.0.1:9"}
    ended = replace(footnote, settings=settings).run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    assert "[1]" in ended.json["answer"]
    assert ended.err.count("traces not sent") == 1
    assert "HTTPConnectionPool" not in ended.err
