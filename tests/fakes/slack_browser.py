"""The browser of an admin who installs the app: no SDK does that."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import httpx
from slack_sdk.oauth import OAuthStateUtils

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_oauth import SIGNED_IN


@dataclass
class Browser:
    """Signed in to ``slack`` as ``user``; what ends TLS before the app lets it keep its cookies.

    It follows no redirect by itself. Not for use on the event loop of the app.
    """

    slack: FakeSlack
    user: str
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, url: str) -> httpx.Response:
        at_slack = url.startswith(self.slack.base)
        cookies = {SIGNED_IN: f"{self.slack.team}-{self.user}"} if at_slack else self.cookies
        header = "; ".join(f"{name}={value}" for name, value in cookies.items())
        answer = httpx.get(url, headers={"Cookie": header}, trust_env=False)
        if not at_slack:
            self.cookies |= dict(answer.cookies)
        return answer

    def to_slack(self, app: str) -> str:
        """Where the app at this address sends it from /slack/install."""
        begun = self.get(f"{app}/slack/install")
        assert begun.status_code == 302, begun.text
        return str(begun.headers["Location"])

    def back(self, authorize_url: str) -> str:
        """Where Slack sends it once its owner said yes."""
        agreed = self.get(authorize_url)
        assert agreed.status_code == 302, agreed.text
        return str(agreed.headers["Location"])

    def install(self, app: str) -> str:
        """The whole way; returns the last address."""
        address = self.back(self.to_slack(app))
        done = self.get(address)
        assert done.status_code == 200, done.text
        assert "Thank you" in done.text
        return address

    def state_of(self, address: str) -> dict[str, str]:
        """The cookie that goes with the state in an address, as it was before it was used."""
        state = dict(parse_qsl(urlsplit(address).query))["state"]
        return {OAuthStateUtils.default_cookie_name: state}
