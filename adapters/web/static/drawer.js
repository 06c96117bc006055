// Runs as soon as the list of conversations stands in the page: on a phone it begins folded.
if (matchMedia("(max-width: 52rem)").matches) document.querySelector(".drawer").open = false;
