"""Limits and intervals of the web console."""

from __future__ import annotations

SECONDS_BETWEEN_SAVES = 0.25  # of an unfinished reply, for other processes and tabs
SECONDS_BETWEEN_SAVES_ALONE = 2.0  # with SQLite, where no other process reads it before a restart
SECONDS_BETWEEN_LOOKS = 0.2  # at runs of other processes, if the database sends no signals
SECONDS_BETWEEN_IDLE_LOOKS = 2.0  # at all threads with viewers, in any case
SECONDS_BETWEEN_EVENTS = 0.04  # to one browser: no one reads more than 25 states a second
SECONDS_BETWEEN_INDEXINGS = 0.1  # of older conversations: nothing waits for them
HEARTBEAT_SECONDS = 15.0  # of silence until an event stream sends a sign of life
STREAMS_OF_ONE_CLIENT = 200  # open at once, 60 kB each
PARTS_KEPT = 200  # rendered parts of unfinished replies, shared by their viewers

LARGEST_BODY = 200_000  # bytes of a form or of JSON
LARGEST_UPLOAD = 25_000_000  # bytes of all files of a question, unless a single file may be larger
LARGEST_DRAINED = 100_000_000  # bytes beyond that, which are read and dropped
MOST_FILES = 10  # of a question, as in Discord
MOST_FIELDS = 200  # of a form, its files apart
PIECE = 65_536  # bytes of a form parsed before other tasks run
LONGEST_FILE_NAME = 120  # characters
LOOKING_SECONDS = 5.0  # for checking a file before its question is accepted
THREADS_LISTED = 40  # per page of the list
FOUND_AT_ONCE = 60  # questions per page of search results
LONGEST_TITLE = 200  # characters of a conversation's given name
SESSION_DAYS = 30  # without a visit until a browser has to sign in again
SIGN_INS_PER_MINUTE = 60  # begun or completed from one address, with an OpenID provider
REQUESTS_PER_MINUTE = 600  # of one client, including images
LONGEST_PERSON = 200  # characters of the name that a proxy gives
GROUPS_OF_ONE_VISITOR = 500  # that a proxy or an OpenID provider names
OPENINGS_KNOWN = 10_000  # opened pages that a process remembers
