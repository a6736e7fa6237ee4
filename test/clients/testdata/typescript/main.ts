// The program of a user of both interfaces, by types that openapi-typescript generates and the client openapi-fetch: it calls every
// operation, and ends with an error where one fails. Its arguments are the URLs of the service and of the admin interface, and a folder
// that is served. The compiler checks each parameter, body and document against the OpenAPI documents.
import createClient from "openapi-fetch";
import type { paths as Service } from "./service.js";
import type { paths as Admin, components } from "./admin.js";

const [serviceURL, adminURL, folder] = process.argv.slice(2) as [string, string, string];
const names = createClient<Service>({ baseUrl: serviceURL, redirect: "manual" });
const admins = createClient<Admin>({ baseUrl: adminURL, redirect: "manual" });

const name = "urn:example:a", prefix = "urn:example:p-", sandbox = "urn:example:try-";
const handle = "20.500.9/h1";
const text = { parseAs: "text" } as const, blob = { parseAs: "arrayBuffer" } as const;

type Result<T> = { data?: T; error?: unknown; response: Response };

// expect requires that a call has a status, and returns its document.
async function expect<T>(status: number, call: Promise<Result<T>>): Promise<T> {
	const { data, error, response } = await call;
	if (response.status !== status) {
		throw new Error(`${response.url}: ${response.status}, want ${status}: ${JSON.stringify(error ?? data)}`);
	}
	return data as T;
}

function assert(condition: boolean, what: string, got: unknown): asserts condition {
	if (!condition) throw new Error(`${what}: ${JSON.stringify(got)}`);
}

type Name = components["schemas"]["Name"];

function record(name: string, target: string): Name {
	return { name, status: "active", targets: [{ uri: target }] };
}

async function register() {
	for (const uri of [name, "hdl:" + handle, "ark:/12345/x1", "urn:example:b"]) {
		await expect(201, admins.PUT("/api/v1/names", { params: { query: { uri } }, body: record(uri, "https://target.example/a") }));
	}
	const refused = await admins.PUT("/api/v1/names", { params: { query: { uri: name } }, body: record(name, "https://other.example/") });
	assert(refused.error?.status === 428, "putName: the problem document", refused.error);
	await expect(200, admins.PUT("/api/v1/names", {
		params: { query: { uri: name }, header: { "If-Match": '"1"' } }, body: record(name, "https://target.example/b"),
	}));
	const merge = { headers: { "Content-Type": "application/merge-patch+json" }, body: { contact: "mailto:a@a.example" } };
	await expect(200, admins.PATCH("/api/v1/names", { params: { query: { uri: name } }, ...merge }));
	await expect(201, admins.PUT("/api/v1/prefixes", { params: { query: { uri: prefix } }, body: record(prefix, "https://target.example/") }));
	await expect(200, admins.PATCH("/api/v1/prefixes", { params: { query: { uri: prefix } }, ...merge }));
	await expect(201, admins.PUT("/api/v1/prefixes", {
		params: { query: { uri: sandbox } }, body: { ...record(sandbox, "https://try.example/"), sandbox: true },
	}));
	await expect(200, admins.DELETE("/api/v1/sandboxes", { params: { query: { prefix: sandbox } } }));
	const ends = { body: { reason: "r", note: "n" } };
	await expect(200, admins.POST("/api/v1/prefixes/withdraw", { params: { query: { uri: prefix, dry_run: true } }, ...ends }));
	const minted = await expect(201, admins.POST("/api/v1/names/mint", { body: { pattern: "urn:example:item-{counter}", count: 2 } }));
	assert(minted.names.length === 2, "mintNames", minted);
	await expect(200, admins.POST("/api/v1/names/withdraw", { params: { query: { uri: minted.names[0]!, dry_run: true } }, ...ends }));
	await expect(200, admins.POST("/api/v1/names/supersede", { body: { names: ["urn:example:b"], successors: [name], note: "n" } }));
}

async function ask() {
	const path = { params: { path: { uri: name } } };
	await expect(302, names.GET("/{uri}", { ...path, ...text }));
	await expect(204, names.OPTIONS("/{uri}", path));
	await expect(302, names.GET("/", { params: { query: { uri: name } }, ...text }));
	for (const service of ["N2Ls", "N2C"]) {
		await expect(200, names.GET("/uri-res/{service}", { params: { path: { service } }, ...text, querySerializer: () => name }));
	}
	const { data, response } = await names.GET("/api/v1/resolve", { params: { query: { uri: name, service: "I2L" } } });
	assert(data?.locations[0]?.uri === "https://target.example/b", "resolve", data);
	const known = { query: { uri: name }, header: { "If-None-Match": response.headers.get("ETag")! } };
	await expect(304, names.GET("/api/v1/resolve", { params: known }));
	const wrong = await names.GET("/api/v1/resolve", { params: { query: { uri: "urn:a" } } });
	assert(wrong.response.status === 400 && wrong.error!.detail !== "", "resolve: the problem document", wrong.error);
	const many = await expect(200, names.POST("/api/v1/resolve", { body: [name, "urn:a"], ...text }));
	assert(many.trim().split("\n").length === 2, "resolveMany", many);
	const explained = await expect(200, names.GET("/api/v1/explain", { params: { query: { uri: name, format: "json" } } }));
	assert(typeof explained !== "string" && explained.trace !== undefined, "explain", explained);
	const values = await expect(200, names.GET("/api/handles/{handle}", { params: { path: { handle }, query: { type: ["URL"] } } }));
	assert(values.responseCode === 1, "handle", values);
	await expect(200, names.GET("/fetch", { params: { query: { uri: `file://${folder}/`, sort: "size" } }, ...text }));
	const later = new Date(Date.now() + 3600_000).toUTCString();
	const gate = await names.GET("/timegate/{uri}", { params: { path: { uri: name }, header: { "Accept-Datetime": later } }, ...text });
	assert(gate.response.status === 302, "timegate", gate.response.status);
	const datetime = gate.response.headers.get("Location")!.split("/memento/")[1]!.split("/")[0]!;
	await expect(302, names.GET("/memento/{datetime}/{uri}", { params: { path: { datetime, uri: name } }, ...text }));
	await expect(200, names.GET("/timemap/{uri}", { ...path, ...text }));
	await expect(200, names.GET("/timemap/{page}/{uri}", { params: { path: { page: 1, uri: name } }, ...text }));
	await expect(200, names.GET("/api/v1/openapi.json"));
	await expect(200, names.GET("/robots.txt", text));
	await expect(200, names.GET("/names", { params: { query: { status: "active" } }, ...text }));
	await expect(200, names.GET("/sitemap.xml", text));
	await expect(200, names.GET("/sitemap-{file}.xml", { params: { path: { file: "~" } }, ...text }));
	await expect(200, names.GET("/namespaces", text));
	await expect(200, names.GET("/namespaces/{nid}", { params: { path: { nid: "isbn" } }, ...text }));
	await expect(200, names.GET("/docs", text));
	await expect(200, names.GET("/docs/{group}", { params: { path: { group: "names" } }, ...text }));
	await expect(200, names.GET("/opensearch.xml", text));
	await expect(200, names.GET("/favicon.ico", blob));
	await expect(200, names.GET("/.well-known/api-catalog"));
	await expect(200, names.GET("/.well-known/ark", text));
	await expect(200, names.GET("/.well-known/security.txt", text));
}

// csv starts the import of a table, and returns the id of its job.
async function csv(table: string): Promise<string> {
	const options = { params: { query: { dry_run: true } }, headers: { "Content-Type": "text/csv" }, bodySerializer: (body: unknown) => body as string };
	const job = await expect(202, admins.POST("/api/v1/jobs", { ...options, body: "name,target\n" + table }));
	return job.id;
}

async function importAll() {
	const id = await csv("urn:example:c,https://target.example/c\nno name,https://target.example/d\n");
	for (let ended = false; !ended;) {
		ended = (await expect(200, admins.GET("/api/v1/jobs/{id}", { params: { path: { id } } }))).ended !== undefined;
	}
	const path = { id };
	const rejected = await expect(200, admins.GET("/api/v1/jobs/{id}/rejected", { params: { path, query: { format: "ndjson" } }, ...text }));
	assert(rejected.includes("no name"), "rejectedLines", rejected);
	await expect(200, admins.GET("/api/v1/jobs/{id}/differences", { params: { path, query: { format: "csv" } }, ...text }));
	const running = await csv(Array.from({ length: 20_000 }, (_, i) => `urn:example:long-${i},https://target.example/${i}\n`).join(""));
	const moved = await expect(202, admins.POST("/api/v1/jobs", {
		body: { prefix: "urn:example:", replace: "https://old.example/", with: "https://new.example/" },
	}));
	for (const id of [moved.id, running]) {
		await expect(202, admins.DELETE("/api/v1/jobs/{id}", { params: { path: { id } } }));
	}
	await expect(200, admins.GET("/api/v1/jobs"));
}

async function readAll() {
	const one = await expect(200, admins.GET("/api/v1/names", { params: { query: { uri: name } } }));
	assert("name" in one && one.name === name && one.status === "active", "listNames", one);
	const list = await expect(200, admins.GET("/api/v1/names", { params: { query: { prefix: "urn:example:" } } }));
	assert("names" in list && list.names.length > 0, "listNames", list);
	await expect(200, admins.GET("/api/v1/names/history", { params: { query: { uri: name } } }));
	await expect(200, admins.GET("/api/v1/prefixes"));
	await expect(200, admins.GET("/api/v1/prefixes/history", { params: { query: { uri: prefix } } }));
	await expect(200, admins.GET("/api/v1/names/export", { params: { query: { format: "tsv" } }, ...text }));
	await expect(200, admins.GET("/api/v1/prefixes/export", { params: { query: { format: "ndjson" } }, ...text }));
	const changes = await expect(200, admins.GET("/api/v1/registry/changes", { params: { query: { order: "newest" } } }));
	assert("changes" in changes, "changeSets", changes);
	const newest = changes.changes[0]!.number;
	await expect(200, admins.GET("/api/v1/registry/changes/{id}", { params: { path: { id: newest } } }));
	await expect(200, admins.POST("/api/v1/registry/changes/revert", { params: { query: { dry_run: true } }, body: { set: newest, note: "n" } }));
	await expect(200, admins.GET("/api/v1/registry/versions"));
	await expect(200, admins.GET("/api/v1/statistics"));
	await expect(200, admins.GET("/api/v1/health", { params: { query: { state: "suspect" } } }));
	const token = await expect(201, admins.POST("/api/v1/tokens", { body: { name: "catalogue", role: "writer", actions: ["mint", "change"] } }));
	await expect(200, admins.GET("/api/v1/tokens"));
	await expect(200, admins.DELETE("/api/v1/tokens/{id}", { params: { path: { id: token.id } } }));
}

async function operate() {
	await expect(200, admins.GET("/healthz"));
	await expect(200, admins.GET("/readyz"));
	await expect(200, admins.GET("/metrics", text));
	await expect(200, admins.GET("/api/v1/cache"));
	await expect(200, admins.GET("/api/v1/cache/entries", { params: { query: { uri: name } } }));
	await expect(200, admins.DELETE("/api/v1/cache/entries", { params: { query: { uri: name } } }));
	const uri = "http://a.example/";
	await expect(200, admins.GET("/api/v1/responses", { params: { query: { uri } } }));
	await expect(200, admins.GET("/api/v1/responses/why", { params: { query: { uri } } }));
	await expect(200, admins.DELETE("/api/v1/responses", { params: { query: { uri, mode: "hard" } } }));
	await expect(200, admins.GET("/api/v1/config", { params: { query: { origins: true } } }));
	await expect(200, admins.GET("/openapi.json"));
	await expect(200, admins.GET("/debug/pprof/", text));
	await expect(200, admins.GET("/debug/pprof/cmdline", text));
	await expect(200, admins.GET("/debug/pprof/symbol", text));
	await expect(200, admins.GET("/debug/pprof/profile", { params: { query: { seconds: 1 } }, ...blob }));
	await expect(200, admins.GET("/debug/pprof/trace", { params: { query: { seconds: 1 } }, ...blob }));
}

await register();
await ask();
await importAll();
await readAll();
await operate();
