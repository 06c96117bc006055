"""Slack's limits as named numbers, each with the page it comes from.

Numbers marked "seen" are not documented: developers have reported them, and Footnote stays well
below them.
"""

from __future__ import annotations

from collections.abc import Mapping

# https://docs.slack.dev/reference/block-kit/blocks/markdown-block: over all markdown blocks of a
# message; the same number bounds `markdown_text` of chat.postMessage and of the streaming methods.
MARKDOWN_CHARACTERS = 12_000

# https://docs.slack.dev/reference/block-kit/blocks: blocks of one message
MESSAGE_BLOCKS = 50

# https://docs.slack.dev/reference/block-kit/blocks/context-block: elements, and characters of one
# (https://docs.slack.dev/reference/block-kit/composition-objects/text-object gives 3,000 at most)
CONTEXT_ELEMENTS = 10
CONTEXT_CHARACTERS = 2_000

# https://docs.slack.dev/reference/block-kit/blocks/section-block
SECTION_CHARACTERS = 3_000

# https://docs.slack.dev/reference/block-kit/block-elements/button-element
BUTTON_CHARACTERS = 75

# https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object
CONFIRM_TITLE_CHARACTERS = 100
CONFIRM_TEXT_CHARACTERS = 300
CONFIRM_BUTTON_CHARACTERS = 30

# https://docs.slack.dev/reference/block-kit/composition-objects/option-object, and
# https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element
OPTION_CHARACTERS = 75
PLACEHOLDER_CHARACTERS = 150

# https://docs.slack.dev/reference/block-kit/blocks/table-block: rows with the header, columns, and
# characters of all cells of a message. One table a message: Slack's page has said so.
TABLE_ROWS = 100
TABLE_COLUMNS = 20
TABLE_CHARACTERS = 10_000

# https://docs.slack.dev/reference/views/modal-views
VIEW_BLOCKS = 100
VIEW_TITLE_CHARACTERS = 24

# https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
MOST_PROMPTS = 4

# https://docs.slack.dev/reference/methods/agents.sessions.setStatus
SESSION_TITLE_CHARACTERS = 200

# https://docs.slack.dev/reference/methods/chat.startStream: a task's `details` and `output` in one
# chunk
TASK_FIELD_CHARACTERS = 256

# Seen: a stream takes 12,000 characters in all (text, titles, details, outputs, each time they are
# sent).
STREAM_CHARACTERS = 12_000

# https://docs.slack.dev/reference/methods/conversations.replies: the largest page; apps that are
# distributed outside the Marketplace get 15 messages, once a minute, whatever they request
PAGE_MESSAGES = 200

# Seen (https://github.com/slackapi/bolt-js/issues/2509): chat.postMessage refuses more than about
# 13,200 characters of serialized blocks with msg_blocks_too_long.
BLOCK_CHARACTERS = 12_800

# Calls a minute for a method in one workspace, https://docs.slack.dev/apis/web-api/rate-limits and
# the page of each method (tier 2: 20, tier 3: 50, tier 4: 100).
CALLS_A_MINUTE: Mapping[str, int] = {
    "agents.sessions.setStatus": 50,
    "chat.appendStream": 100,
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "chat.update": 50,
    "conversations.replies": 50,
}

# https://docs.slack.dev/reference/block-kit/block-elements/button-element: the longest URL that
# Slack documents for any block
URL_CHARACTERS = 3_000

# ---- Footnote's own limits, within those above

PART_CHARACTERS = 11_500  # of an answer in one message
PLAN_CHARACTERS = 4_000  # the share of a stream for tasks; the rest is for the answer
STREAM_RESERVE = 600  # characters of a stream kept for the last states of its tasks
# Then another message continues the stream. Seen: a stream ends by itself after five minutes.
STREAM_SECONDS_USED = 270.0
TASKS = 20  # lines of a plan that are shown
TASK_TITLE_CHARACTERS = 140
TASK_SOURCES = 10  # links under one task
SOURCES = 40  # listed with their quotes
QUOTE_CHARACTERS = 300  # of one source
QUOTES_CHARACTERS = 8_000  # of all sources
HEADINGS_CHARACTERS = 200  # of the headings above the quotes of one source
RICH_TEXT_CHARACTERS = 2_800  # of one rich_text block
TABLE_WIDTH = 60  # columns of a table in fixed width; a phone wraps it
NOTIFICATION_CHARACTERS = 700  # of `text` beside blocks, before it is escaped
FOLLOW_UPS = 3
PROMPT_CHARACTERS = 80  # of a document's title
MOST_PREVIEWS = 5  # of one message
PREVIEW_CHARACTERS = 300  # of a question and an answer in a preview
