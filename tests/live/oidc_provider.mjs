// An OpenID provider for tests/live: npm's oidc-provider, with two people in groups.
//
//   node oidc_provider.mjs MODULES PORT < settings as JSON: {clients, publicUrl}
//
// It says "ready" when it listens. POST /test/rotate gives it new keys, as providers do some day;
// POST /test/skew {"seconds": n} puts its clock forward or back.
import { createServer } from "node:http";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, port] = process.argv.slice(2);
const settings = JSON.parse(readFileSync(0, "utf8"));
const { Provider } = await import(
  pathToFileURL(`${modules}/oidc-provider/lib/index.js`).href
);

const people = {
  ada: { name: "Ada Lovelace", email: "ada@example.com", groups: ["hr", "everyone"] },
  grace: { name: "Grace Hopper", email: "grace@example.com", groups: ["admins", "everyone"] },
};

function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" };
}

const now = Date.now;
let skew = 0;
Date.now = () => now() + skew * 1000;

function provider() {
  const made = new Provider(`http://127.0.0.1:${port}`, {
    clients: settings.clients,
    jwks: { keys: [newKey()] },
    cookies: { keys: ["only for tests"] },
    claims: {
      openid: ["sub"],
      profile: ["name", "groups"],
      email: ["email", "email_verified"],
    },
    features: {
      devInteractions: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    ttl: { IdToken: 300 },
    pkce: { required: () => true },
    async findAccount(_, id) {
      const known = people[id];
      return known && {
        accountId: id,
        claims: async () => ({ sub: id, email_verified: true, ...known }),
      };
    },
  });
  made.on("server_error", (_, error) => console.error(error));
  return made.callback();
}

let handle = provider();

createServer(async (request, response) => {
  const url = new URL(request.url, "http://127.0.0.1");
  if (request.method !== "POST" || !url.pathname.startsWith("/test/")) {
    return handle(request, response);
  }
  if (url.pathname === "/test/rotate") handle = provider();
  else if (url.pathname === "/test/skew") skew = Number(url.searchParams.get("seconds"));
  return response.end("done");
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
