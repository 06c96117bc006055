// Runs as soon as the sidebar stands in the page: on a phone it begins folded; elsewhere a cookie
// keeps whether it is open, so that the server renders the next page that way.
{
  const drawer = document.querySelector(".drawer");
  const narrow = matchMedia("(max-width: 52rem)");
  if (narrow.matches) drawer.open = false;
  drawer.querySelector("summary").addEventListener("click", () => {
    const next = drawer.open ? "closed" : "open"; // a click comes before what it does
    if (!narrow.matches) document.cookie = `footnote_sidebar=${next}; Path=/; Max-Age=31536000; SameSite=Lax`;
  });
}
