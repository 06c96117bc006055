"""Discord's limits, each number with the page it comes from.

MESSAGE is https://docs.discord.com/developers/resources/message, COMPONENTS
https://docs.discord.com/developers/components/reference, CHANNEL
https://docs.discord.com/developers/resources/channel, INTERACTIONS
https://docs.discord.com/developers/interactions/receiving-and-responding, COMMANDS
https://docs.discord.com/developers/interactions/application-commands.
"""

NONCE = 25  # characters; MESSAGE, create message
HISTORY_PAGE = 100  # messages of one request; MESSAGE, get channel messages

TEXT = 4_000  # characters of all texts of a message; COMPONENTS, text display

BUTTON_URL = 512  # characters; COMPONENTS, button structure
OPTION_LABEL = 100  # characters; COMPONENTS, select option structure
PLACEHOLDER = 150  # characters; COMPONENTS, string select
INPUT = 4_000  # characters; COMPONENTS, text input
UPLOADS = 10  # files; COMPONENTS, file upload
CHOICE_NAME = 100  # characters; COMMANDS, option choice structure
CHOICES = 25  # of an option; COMMANDS, option structure

THREAD_NAME = 100  # characters; CHANNEL, start thread from message
THREAD_ARCHIVES_AFTER = 4_320  # minutes without a message; CHANNEL, thread metadata

FOLLOW_UPS_ELSEWHERE = 5  # per interaction where only the user brought the app; INTERACTIONS
RESPONSE_SECONDS = 14 * 60.0  # while the response can be edited, less a minute; INTERACTIONS

# Footnote's own limits, chosen to stay below those above.
SECONDS_BETWEEN_EDITS = 1.5  # Discord was observed to allow 5 edits in 5 s in one channel
REFRESH_SECONDS = 15.0  # how often the elapsed time is updated while nothing else happens
LOGIN_SECONDS = 10.0  # how long a request waits for the login before Discord counts as away
REQUEST_SECONDS = 60.0  # for one request with its retries and waits
PART = TEXT - 100  # characters of a message, which leaves room for additions
