"""Files of a Slack workspace: https://docs.slack.dev/reference/objects/file-object"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

CANVAS = "application/vnd.slack-docs"


@dataclass(slots=True)
class File:
    id: str
    name: str
    mimetype: str
    content: bytes
    user: str
    team: str
    domain: str  # of its workspace
    title: str = ""
    excerpt: str | None = None  # of its text, in search results
    created: float = field(default_factory=time.time)
    size: int | None = None  # reported instead of the true size
    deleted: bool = False
    mode: str = "hosted"  # snippet, external, hidden_by_limit, list

    @property
    def kind(self) -> str:
        return "canvas" if self.mimetype == CANVAS else self.name.rpartition(".")[2]

    @property
    def permalink(self) -> str:
        home = f"https://{self.domain}.slack.com"
        if self.mimetype == CANVAS:
            return f"{home}/docs/{self.team}/{self.id}"
        return f"{home}/files/{self.user}/{self.id}/{self.name}"

    def stub(self) -> Json:
        """Return it as in events of channels that are shared with the team of its owner."""
        told = {"id": self.id, "mode": "file_access", "file_access": "check_file_info"}
        return {**told, "created": 0, "timestamp": 0, "user": ""}

    def json(self, base: str) -> Json:
        if self.deleted or self.mode == "hidden_by_limit":
            mode = "tombstone" if self.deleted else self.mode
            return {"id": self.id, "created": int(self.created), "mode": mode}
        if self.mode == "external":
            url = f"https://drive.example/{self.id}"
            about = {"id": self.id, "name": self.name, "title": self.title or self.name}
            kind = {"mimetype": self.mimetype, "mode": "external", "is_external": True}
            more = {"external_type": "gdrive", "url_private": url, "permalink": self.permalink}
            return {**about, **kind, **more, "created": int(self.created), "user": self.user}
        url = f"{base}/files-pri/{self.team}-{self.id}"
        return {
            "id": self.id,
            "created": int(self.created),
            "name": self.name,
            "title": self.title or self.name,
            "mimetype": self.mimetype,
            "filetype": self.kind,
            "size": len(self.content) if self.size is None else self.size,
            "user": self.user,
            "mode": self.mode,
            "is_external": False,
            "file_access": "visible",
            "url_private": f"{url}/{self.name}",
            "url_private_download": f"{url}/download/{self.name}",
            "permalink": self.permalink,
        }
