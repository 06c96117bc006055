from tests.live.mediawiki import live_wiki

__all__ = ["live_wiki"]
