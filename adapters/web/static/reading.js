// What a conversation with answers needs beside asking: loaded with the first of them, not before.

import { showCards } from "./cards.js";
import { offerCopies } from "./copies.js";
import { showSources } from "./panel.js";

showCards();
showSources();
offerCopies();
