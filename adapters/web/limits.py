"""The numbers of the web console."""

from __future__ import annotations

SECONDS_BETWEEN_SAVES = 0.25  # of what a reply shows while it works, for other processes and tabs
SECONDS_BETWEEN_SAVES_ALONE = 2.0  # where no other process shows it (SQLite): only for a restart
SECONDS_BETWEEN_LOOKS = 0.2  # at what other processes work on, where nothing signals changes
SECONDS_BETWEEN_IDLE_LOOKS = 2.0  # at all that is looked at, in any case
SECONDS_BETWEEN_EVENTS = 0.04  # to one browser: 25 states a second are more than anyone reads
SECONDS_BETWEEN_INDEXINGS = 0.1  # of older conversations: nothing waits for them
HEARTBEAT_SECONDS = 15.0  # after which a silent event stream says that it is alive
STREAMS_OF_ONE_CLIENT = 200  # open at once: 60 kB each
PARTS_KEPT = 200  # as HTML, of replies that are being worked on, for others who look at them

LARGEST_BODY = 200_000  # bytes of a form or of JSON
LARGEST_UPLOAD = 25_000_000  # bytes of all files of a question, if not one alone may have more
LARGEST_DRAINED = 100_000_000  # bytes beyond that, which are heard and dropped
MOST_FILES = 10  # of a question, as in Discord
MOST_FIELDS = 40  # of a form, its files apart
PIECE = 65_536  # bytes of a form that are parsed before others get their turn
LONGEST_FILE_NAME = 120  # characters
LOOKING_SECONDS = 5.0  # at a file, before its question is taken
THREADS_LISTED = 40  # at once, the others on further pages
FOUND_AT_ONCE = 60  # questions of conversations that are searched for
LONGEST_TITLE = 200  # characters of the name that somebody gives a conversation
SESSION_DAYS = 30  # without a visit, after which a browser has to sign in again
SECONDS_BETWEEN_SESSION_LOOKS = 5.0  # at whether all sessions were ended in another process
GUESSES_PER_MINUTE = 10  # of one address at the token, in forms and headers
SIGN_INS_PER_MINUTE = 60  # of one address at the provider, beginnings and ends
REQUESTS_PER_MINUTE = 600  # of one client, pages, pictures and all
GROUPS_OF_ONE_VISITOR = 500  # that a proxy or an OpenID provider names
OPENINGS_KNOWN = 10_000  # pages opened that a process remembers
