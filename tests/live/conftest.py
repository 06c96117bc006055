from tests.live.emulate import live_slack
from tests.live.mediawiki import live_wiki, live_wiki_without_extracts

__all__ = ["live_slack", "live_wiki", "live_wiki_without_extracts"]
