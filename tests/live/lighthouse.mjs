// Lighthouse on many pages in one Chromium: reads {chrome, flags, settings, pages} as JSON, prints a
// line of JSON for each page. Tests ask for it through page_tools.py.

import { pathToFileURL } from "node:url";

const modules = `${pathToFileURL(process.argv[2])}/`;
const load = (path) => import(new URL(path, modules));
const { default: lighthouse } = await load("lighthouse/core/index.js");
const { desktopConfig } = await load("lighthouse/core/index.js");
const { launch } = await load("chrome-launcher/dist/index.js");
const { pageFunctions } = await load("lighthouse/core/lib/page-functions.js");

// Lighthouse keeps each page's processor busy for a second to tell how fast the machine is. Only the
// category of performance would want to know.
pageFunctions.computeBenchmarkIndex = () => 3000;

const { chrome, flags, settings, pages } = JSON.parse(await new Response(process.stdin).text());
const browser = await launch({ chromePath: chrome, chromeFlags: flags });
try {
  for (const { url, form, cookie } of pages) {
    const options = { ...settings, port: browser.port, extraHeaders: { Cookie: cookie } };
    const found = await lighthouse(url, options, form === "desktop" ? desktopConfig : undefined);
    console.log(JSON.stringify(found.lhr));
  }
} finally {
  browser.kill();
}
