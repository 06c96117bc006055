-- What the statements of plans.py find in the database: :runs runs with :steps steps each, over 400 days.
-- Two runs share a thread. Every tenth thread is the console's, the others are Slack's, in a
-- thousand workspaces of ten channels; 7,000 people ask. The latest 40 runs have not ended.

-- Spares looking up ten million foreign keys.
SET LOCAL session_replication_role = replica;

CREATE TEMPORARY TABLE place ON COMMIT DROP AS
SELECT i, i / 2 AS thread, (i / 2) % 10 = 0 AS is_web, 'U' || (i / 20) % 7000 AS person,
    now() - (:runs - i) * interval '400 days' / :runs AS at,
    substr(md5(i::text), 1, 12) AS run
FROM generate_series(1, :runs) i;

CREATE TEMPORARY TABLE each ON COMMIT DROP AS
SELECT *, concat_ws(':', platform, workspace, channel, thread) AS key FROM (
    SELECT i, thread, person, at, run, :runs - i < 40 AS is_open,
        CASE WHEN is_web THEN 'web' ELSE 'slack' END AS platform,
        CASE WHEN is_web THEN 'console' ELSE 'T' || thread % 1000 END AS workspace,
        CASE WHEN is_web THEN person ELSE 'C' || (thread + thread / 1000) % 10 END AS channel
    FROM place
) placed;

INSERT INTO threads (key, platform, workspace, channel, thread, created_at)
SELECT key, min(platform), min(workspace), min(channel), min(thread::text), min(at)
FROM each GROUP BY key;

INSERT INTO messages (id, thread_key, event_key, author_id, author_name, text, links, attachments,
    locale, at)
SELECT i, key, platform || ':q' || i, person, 'Name', 'How tall is tower ' || i || '?', '[]', '[]',
    'en', at
FROM each ORDER BY i;

INSERT INTO runs (id, thread_key, message_id, state, options, accepted_at, ended_at, attempt, owner,
    lease_until, answer)
SELECT run, key, i,
    CASE WHEN is_open AND i % 2 = 0 THEN 'accepted' WHEN is_open THEN 'running'
        WHEN i % 20 = 0 THEN 'partial' WHEN i % 15 = 0 THEN 'not_found' WHEN i % 50 = 1
        THEN 'failed' ELSE 'answered' END,
    '{}', at, CASE WHEN NOT is_open THEN at + interval '20 seconds' END, 1,
    CASE WHEN is_open AND i % 2 = 1 THEN 'there/1/a' END,
    CASE WHEN is_open AND i % 2 = 1 THEN now() + interval '1 day' END,
    CASE WHEN NOT is_open THEN json_build_object(
        'status', 'answered', 'text', repeat('It is 330 m tall. ', 30),
        'question', 'How tall is tower ' || i || '?', 'run', run,
        'usage', json_build_object('usd', 0.02)) END
FROM each ORDER BY i;

INSERT INTO steps (run_id, key, kind, title, result, attempt, seconds, at)
SELECT run, md5(run || s) || md5(s || run),
    (ARRAY['search', 'read', 'think', 'read', 'write'])[1 + s % 5], 'Step ' || s,
    CASE WHEN s % 5 IN (1, 3) THEN json_build_object(
        'url', 'https://example.org/' || i / 2, 'hash', md5((i / 2)::text))::text
        ELSE '{"hits": []}' END,
    1, 0.5, at + s * interval '2 seconds'
FROM each, generate_series(0, :steps - 1) s ORDER BY i, s;

INSERT INTO pages (id, url, hash, title, text, fetched_at)
SELECT i, CASE WHEN i % 100 = 0 THEN 'file:' ELSE 'https://example.org/' END || i, md5(i::text),
    'Page', repeat('It is 330 m tall. ', 20),
    now() - (:runs / 2 - i) * interval '800 days' / :runs
FROM generate_series(1, :runs / 2) i;

INSERT INTO run_pages (run_id, number, shown, page_id)
SELECT run, n, n, 1 + (i / 2 + n) % (:runs / 2) FROM each, generate_series(1, 2) n ORDER BY i;

INSERT INTO citations (run_id, position, number, page_id, start, "end", quote)
SELECT run, n - 1, n, 1 + (i / 2 + n) % (:runs / 2), 0, 17, 'It is 330 m tall.'
FROM each, generate_series(1, 2) n ORDER BY i;

INSERT INTO feedback (run_id, author_id, verdict, at)
SELECT run, person, 'good', at FROM each WHERE i % 20 = 0;

INSERT INTO found_words (thread_key, run_id, part, terms)
SELECT key, run, 'whole', 'how tall tower ' || i FROM each WHERE platform = 'web' AND NOT is_open;

INSERT INTO spending (platform, scope, name, day, workspace, micro_usd, questions, model_calls)
SELECT platform, scope, CASE scope WHEN 'workspace' THEN workspace WHEN 'channel' THEN channel
    ELSE person END, (at AT TIME ZONE 'UTC')::date, workspace, 20000 * count(*), count(*),
    3 * count(*)
FROM each, unnest(ARRAY['workspace', 'channel', 'user']) scope GROUP BY 1, 2, 3, 4, 5;

SELECT setval('messages_id_seq', :runs), setval('pages_id_seq', :runs);
