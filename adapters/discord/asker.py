"""A word to the asker alone, when nothing can be posted where the question was asked."""

from __future__ import annotations

from adapters.discord.format import Look
from adapters.discord.outlet import ChannelOutlet, InteractionOutlet, Post, nonce_of
from adapters.discord.state import ORIGINAL, Posted
from adapters.discord.wire import DiscordRefused, Wire
from bot.errors import PlatformUnavailable
from bot.logs import get_logger
from bot.posting import RunRef
from bot.rendering.texts import texts_for

log = get_logger()


async def tell_asker(wire: Wire, run: RunRef, posted: Posted) -> None:
    """Say that the answer cannot be posted: as the response to the command, or by a direct
    message. Where neither is possible, the log has to do."""
    look = Look(texts_for(run.message.locale)("cannot-post"))
    try:
        if posted.interaction is not None:
            await InteractionOutlet(wire, posted.interaction).edit(ORIGINAL, Post(look, None))
            return
    except (DiscordRefused, PlatformUnavailable) as error:
        log.info("command not answered", run=run.id, error=str(error))
    try:
        direct = await wire.request(
            "POST", "/users/@me/channels", json={"recipient_id": run.message.author.id}
        )
        nonce = nonce_of(run.id, 0, -2)
        await ChannelOutlet(wire, str(direct["id"])).create(Post(look, None, nonce))
    except (DiscordRefused, PlatformUnavailable) as error:
        log.warning("asker not told", run=run.id, error=str(error))
