package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packageRule specifies the packages of the module that a package, or all packages matching a pattern, may
// import.
type packageRule struct {
	path     string   // from the module root; "*" matches one segment
	may      []string // packages of the module that it may import; "..." is all
	required bool     // it must exist
	why      string
}

// packageRules is the table of dependencies. An exact path takes precedence over a
// pattern.
func packageRules() []packageRule {
	return []packageRule{
		{
			"uri", nil, true,
			"uri is the base of all other packages, so it may depend on none of them",
		},
		{
			"urnns",
			[]string{"uri"},
			true,
			"urnns is pure knowledge of URN namespaces, data about names: it needs the values of uri and no code " +
				"with side effects",
		},
		{
			"urnns/digitallink",
			[]string{"uri", "urnns"},
			true,
			"identifiers in the paths of web addresses are data and pure functions: they depend on the errors of " +
				"uri, and on check digits that namespaces have, too",
		},
		{
			"cache", nil, true,
			"cache is generic, for three caches that are never mixed: it depends neither on URIs nor on answers",
		},
		{
			"cache/valkey",
			[]string{"cache"},
			true,
			"valkey is a second level behind cache.SecondLevel, and the only room with the client of Valkey: its " +
				"connections are passed to it",
		},
		{
			"cache/*",
			[]string{"cache"},
			false,
			"packages below cache serve the cache alone: a store and the rules of RFC 9111 depend neither on URIs " +
				"nor on answers",
		},
		{
			"cache/httpcache",
			[]string{
				"cache", "cache/httpcache/body", "cache/httpcache/cachecontrol", "cache/httpcache/disk",
				"cache/httpcache/rules", "internal/httpmessage", "internal/lifetime", "internal/quota",
			},
			true,
			"the HTTP cache depends on a store, and neither on URIs nor on who serves: keys are texts",
		},
		{
			"cache/httpcache/rules",
			[]string{"cache/httpcache/cachecontrol", "internal/httpmessage"},
			true,
			"the rules of RFC 9111 are pure functions of header fields and times: they know neither stores nor streams",
		},
		{
			"cache/httpcache/body",
			[]string{"cache/httpcache/disk", "cache/httpcache/rules", "internal/httpmessage", "internal/lifetime"},
			true,
			"bodies are streamed to all who read them, without knowing what is stored of a response, and why: of " +
				"the rules they have ranges alone",
		},
		{
			"cache/httpcache/disk", nil, true,
			"disk stores bodies with opaque heads in files: it knows nothing of HTTP, and can be tested alone",
		},
		{
			"cache/httpcache/cachecontrol", nil, true,
			"the parser of Cache-Control is pure: all packages that use HTTP may import it, and it imports none of " +
				"the module",
		},
		{
			"resolver",
			[]string{"uri", "urnns", "urnns/digitallink", "cache", "internal/quota"},
			true,
			"resolver is the domain: the systems are plugged into it (by cmd/urnd), so it depends neither on them " +
				"nor on its callers; which names are one is told by the data of urnns",
		},
		{
			"resolver/ddds",
			[]string{"resolver", "uri", "cache", "internal/quota"},
			true,
			"a system answers queries of the domain and does not depend on other systems; ddds also has a cache, of " +
				"DNS record sets",
		},
		{
			"resolver/thttp",
			[]string{"resolver", "resolver/scheme", "uri", "cache/httpcache/cachecontrol", "internal/httpmessage"},
			false,
			"a system answers queries of the domain and does not depend on other systems; its HTTP client is passed " +
				"to it, as the handler of a scheme",
		},
		{
			"resolver/slp",
			[]string{"resolver", "uri", "cache"},
			false,
			"a system answers queries of the domain and does not depend on other systems; its sockets are passed to " +
				"it, and a cache for the servers that it finds",
		},
		{
			"resolver/registry",
			[]string{"resolver", "resolver/registry/title", "uri"},
			false,
			"the registry uses its store only through an interface; what resolves names by it is lookup",
		},
		{
			"resolver/registry/lookup",
			[]string{"resolver", "resolver/registry", "uri", "urnns/digitallink"},
			true,
			"a system answers queries of the domain and does not depend on other systems; it reads what is " +
				"registered through the store's interface, and " +
				"knows of identifiers in web addresses only their link types: which names are their levels is " +
				"passed to it",
		},
		{
			"resolver/registry/title",
			[]string{"internal/plaintext"},
			true,
			"title makes words of titles: pure functions, so that stores index and searches ask for the same words",
		},
		{
			"resolver/registry/store",
			[]string{"resolver/registry", "resolver/registry/title"},
			true,
			"store writes the registry in SQL, by one schema and one set of statements: it knows no driver, and " +
				"which database runs them is passed to it",
		},
		{
			"resolver/registry/field",
			[]string{"internal/plaintext", "resolver/registry"},
			true,
			"field is the one table of the fields of an entry: it needs the types of the registry alone, and all " +
				"that shows, reads, compares or merges entries ranges over it",
		},
		{
			"resolver/registry/jobs",
			[]string{
				"resolver/registry", "resolver/registry/bulk", "resolver/registry/diff", "resolver/registry/token",
				"internal/charset", "uri",
			},
			true,
			"jobs runs imports that clients have sent: it needs the registry, its import and whether their tokens " +
				"are valid, and knows nothing of HTTP",
		},
		{
			"resolver/registry/diff",
			[]string{"internal/plaintext", "resolver/registry", "resolver/registry/field", "internal/tabular"},
			true,
			"diff says what differs between entries, whoever has changed them, and depends on no form of files",
		},
		{
			"resolver/registry/bulk",
			[]string{
				"resolver/registry", "resolver/registry/bulk/foreign", "resolver/registry/field",
				"resolver/registry/sqlite/sorter", "resolver/registry/title", "internal/charset", "internal/tabular",
			},
			true,
			"bulk turns files into changes of a registry and back, whichever store it has; what it sorts is in a " +
				"temporary table",
		},
		{
			"resolver/registry/bulk/foreign",
			[]string{
				"resolver/registry", "resolver/registry/bulk/webserver", "resolver/registry/field",
				"internal/charset", "internal/tabular", "uri",
			},
			true,
			"foreign makes entries of the files of other programs, whose identifiers become URIs: it is pure, and " +
				"knows of the registry what an entry is",
		},
		{
			"resolver/registry/bulk/webserver",
			[]string{"resolver/registry"},
			true,
			"webserver makes entries of configurations of Apache and nginx: it is pure, and knows of the registry " +
				"what an entry is",
		},
		{
			"resolver/registry/sqlite/sorter", nil, true,
			"sorter sorts bytes in a table of SQLite, and knows nothing of names: the SQL of the registry is in its " +
				"store, and what else there is with the drivers",
		},
		{
			"resolver/registry/mint",
			[]string{"resolver/registry", "uri"},
			true,
			"mint makes names of patterns, and registers them as any client of the registry does",
		},
		{
			"resolver/registry/token",
			[]string{"resolver/registry"},
			true,
			"token says who a client is: what that one may do is decided by the registry",
		},
		{
			"resolver/registry/count",
			[]string{"resolver/registry", "resolver", "internal/robots"},
			true,
			"count counts answers by name: who asked is told to it only as a program or not",
		},
		{
			"resolver/registry/audit",
			[]string{"resolver/registry", "resolver/registry/field", "resolver/registry/token"},
			true,
			"audit writes which fields have changed into a log that is passed to it",
		},
		{
			"resolver/registry/lint",
			[]string{"resolver/registry", "resolver", "uri"},
			false,
			"lint compares what is registered with the rules of names: it reads by the interface of the store, and " +
				"who shows what it finds is decided by its caller",
		},
		{
			"resolver/registry/health",
			[]string{"internal/plaintext", "resolver/registry", "resolver", "uri"},
			false,
			"health asks the targets of names by a transport that is passed to it, since what may be dialled is " +
				"decided by the guard; it knows of resolver only the kinds of errors",
		},
		{
			"resolver/registry/shelf",
			[]string{"resolver/registry"},
			true,
			"the shelf keeps bytes by keys in a table of the store: what they mean is known by who puts them there",
		},
		{
			"resolver/registry/service",
			[]string{
				"internal/plaintext", "internal/quota", "resolver", "resolver/registry", "resolver/registry/bulk",
				"resolver/registry/count", "resolver/registry/health", "resolver/registry/jobs",
				"resolver/registry/lint", "resolver/registry/mint", "resolver/registry/token",
			},
			true,
			"service is what API, pages and commands call: it decides who may do what, how much and on which " +
				"condition, and knows neither HTTP nor HTML",
		},
		{
			"resolver/registry/*",
			[]string{
				"resolver/registry", "resolver/registry/store", "resolver/registry/title", "resolver", "uri",
				"internal/quota",
			},
			false,
			"a database of the registry runs the statements of the store: databases do not depend on each other",
		},
		{
			"resolver/scheme",
			[]string{"resolver", "uri", "internal/httpmessage"},
			true,
			"scheme is the interface and the mux; the handlers are registered by cmd/urnd, so it depends on none of " +
				"them",
		},
		{
			"resolver/scheme/http",
			[]string{
				"resolver/scheme", "resolver", "uri", "internal/http1", "internal/netguard",
				"internal/httpmessage", "internal/lifetime",
			},
			true,
			"a scheme is one folder that can be deleted: it does not depend on other schemes, and reaches the " +
				"network only through netguard",
		},
		{
			"resolver/scheme/*",
			[]string{
				"internal/plaintext", "resolver/scheme", "resolver", "uri", "internal/netguard",
				"internal/httpmessage", "internal/quota",
			},
			false,
			"a scheme is one folder that can be deleted: it does not depend on other schemes, and reaches the " +
				"network only through netguard",
		},
		{
			"resolver/schemetest",
			[]string{"resolver/scheme", "resolver", "uri", "internal/netguard", "internal/httpmessage"},
			false,
			"the conformance suite requires of a handler only what the interface specifies, so it depends on no " +
				"handler; its servers are dialled through netguard, as all are",
		},
		{
			"proxy",
			[]string{
				"proxy/listen", "proxy/http1", "proxy/http2", "proxy/route", "proxy/gate", "proxy/gate/policy",
				"proxy/message", "proxy/problem", "proxy/pages", "proxy/answer", "proxy/answer/gs1", "proxy/compress",
				"proxy/forward", "proxy/forward/tunnel", "proxy/present", "resolver", "resolver/scheme", "uri",
				"internal/netguard", "internal/httpmessage", "internal/lifetime", "internal/quota",
			},
			true,
			"proxy wires the way of a request, and observes it: what is asked, who may ask it and how it is " +
				"answered is decided in the packages below it, and which systems and schemes answer in cmd/urnd",
		},
		{
			"proxy/route",
			[]string{"internal/plaintext", "resolver", "uri", "internal/httpmessage"},
			true,
			"what is asked is a value, which depends on a request and the names of this server alone: no client, no " +
				"cache, no reply",
		},
		{
			"proxy/gate",
			[]string{
				"proxy/route", "proxy/gate/policy", "proxy/problem", "resolver", "uri",
				"cache/httpcache/cachecontrol", "internal/httpmessage", "internal/quota",
			},
			true,
			"the gate decides about what is asked, by the client alone: it answers nothing, and so the commands ask " +
				"it, too",
		},
		{
			"proxy/present",
			[]string{
				"proxy/answer", "proxy/forward", "proxy/message", "proxy/pages", "proxy/problem", "resolver",
				"resolver/scheme", "internal/httpmessage", "internal/quota",
			},
			true,
			"present makes documents of the listings and refusals of other protocols: it is a handler of schemes " +
				"before the cache, and knows no client",
		},
		{
			"proxy/listen",
			[]string{"internal/lifetime", "internal/quota"},
			true,
			"listen accepts connections for any protocol: it is passed what serves them, so that it can be read and " +
				"tested alone",
		},
		{
			"proxy/upstream",
			[]string{"proxy/balance", "proxy/gate/policy", "resolver", "resolver/scheme/http", "uri"},
			true, "upstream only selects proxies: the client of HTTP tries them",
		},
		{
			"proxy/balance",
			[]string{"uri"},
			true,
			"balance picks one of the servers of a site: who sends requests and probes is passed to it, so it " +
				"depends on neither HTTP nor a client",
		},
		{
			"proxy/certificate",
			nil,
			true,
			"certificates are for any server: it is passed the client that asks the authority, and where they are " +
				"kept; certmagic and acmez are here alone",
		},
		{
			"proxy/http1",
			[]string{"internal/http1", "internal/httpmessage", "proxy/listen"},
			true,
			"the server of HTTP/1 knows the protocol alone: what a connection is, is listen's, and what is answered " +
				"is the handler's",
		},
		{
			"proxy/http2",
			[]string{"internal/httpmessage", "proxy/listen"},
			true,
			"the server of HTTP/2 knows the protocol alone: it is the only room with the Framer of " +
				"golang.org/x/net/http2, and what is answered is the handler's",
		},
		{
			"proxy/message",
			[]string{"resolver", "uri", "internal/httpmessage"},
			true,
			"requests and replies are values: an answer becomes a reply by pure functions, which depend on no handler",
		},
		{
			"proxy/pages",
			[]string{
				"proxy/pages/messages", "resolver", "resolver/scheme", "uri", "internal/api",
				"internal/plaintext",
			},
			true,
			"a page shows values, the listings of gateways too: its caller decides which",
		},
		{
			"proxy/apidoc",
			[]string{"proxy/pages"},
			true,
			"pages about an API are made of its OpenAPI document alone, so that both servers of urnd have them of " +
				"one maker",
		},
		{
			"proxy/pages/messages", nil, true,
			"texts by identifier: whoever shows them decides which",
		},
		{
			"proxy/pages/qr", nil, true,
			"a QR code is of any text: it knows nothing of names",
		},
		{
			"proxy/gate/list",
			[]string{"internal/plaintext", "uri"},
			true,
			"lists are read from files and asked by rules: they know neither rules nor settings",
		},
		{
			"proxy/gate/policy",
			[]string{"uri"},
			true,
			"the rules of a site are pure: they compare values, and who asks them dials, logs and refuses; config, " +
				"which describes them, does not depend on them either",
		},
		{
			"proxy/gate/helper",
			[]string{"cache", "cache/memory", "internal/quota"},
			true,
			"a helper is a program that is asked by lines: it knows neither settings nor HTTP, and its answers are " +
				"cached as all are",
		},
		{
			"proxy/problem",
			[]string{
				"proxy/message", "proxy/route", "proxy/pages", "proxy/gate/policy", "proxy/answer/represent",
				"resolver", "resolver/registry", "resolver/scheme", "cache/httpcache", "uri", "internal/api",
				"internal/httpmessage", "internal/netguard",
				"internal/redact",
			},
			true,
			"the one table from errors to status depends on all packages that define errors, the registry among " +
				"them, and on no handler of requests; no problem shows a password. " +
				"How a name is cited that was withdrawn is written by represent",
		},
		{
			"proxy/answer/gs1",
			[]string{"resolver", "urnns/digitallink", "internal/httpmessage"},
			true,
			"which links a request for an identifier means, and the documents of GS1's standards, are pure " +
				"functions of an answer and of the fields of a request: they know no reply",
		},
		{
			"proxy/answer",
			[]string{
				"proxy/answer/gs1", "proxy/answer/represent", "proxy/apidoc", "proxy/compress", "proxy/message",
				"proxy/route", "proxy/problem", "proxy/pages", "proxy/pages/qr", "resolver", "resolver/scheme", "uri",
				"urnns/digitallink", "internal/api", "internal/httpmessage", "internal/quota",
				"internal/tabular",
			},
			true,
			"answer turns answers into replies, and listings into documents: of scheme it needs that value alone, " +
				"since it retrieves nothing, and it depends on no other handler below proxy. " +
				"The QR code of a name is a format of it",
		},
		{
			"proxy/answer/represent",
			[]string{"internal/plaintext", "resolver/registry/title", "uri"},
			true,
			"represent writes values in the forms that are cited and harvested: pure functions, which depend on no " +
				"answer, request or cache; which members of metadata have the title is known once",
		},
		{
			"proxy/answer/represent/representtest",
			[]string{"proxy/answer/represent"},
			false,
			"representtest has works for tests, and knows nothing but what a work is",
		},
		{
			"proxy/forward",
			[]string{
				"proxy/message", "proxy/route", "proxy/gate/policy", "proxy/problem", "proxy/pages", "resolver",
				"resolver/scheme", "cache/httpcache", "cache/httpcache/cachecontrol", "proxy/balance", "proxy/compress",
				"proxy/forward/tunnel", "uri", "internal/netguard", "internal/http1", "internal/httpmessage",
				"internal/quota",
			},
			true,
			"only forward retrieves, by the handlers of schemes that are passed to it, and knows from the guard " +
				"which server could not be reached; it does not depend on the other handlers below proxy",
		},
		{
			"proxy/compress",
			[]string{"cache/httpcache/cachecontrol", "internal/httpmessage"},
			true,
			"compress chooses a coding by the fields of a request, and encodes content: it knows neither what that " +
				"is nor whether it is stored",
		},
		{
			"proxy/forward/tunnel", nil, true,
			"a tunnel copies bytes between two connections: it knows neither HTTP nor who asked for it",
		},
		{
			"proxy/admin",
			[]string{
				"proxy/admin/api", "proxy/admin/editor", "proxy/admin/page", "proxy/admin/session",
				"proxy/admin/status", "proxy/apidoc", "proxy/gate", "proxy/listen", "proxy/message", "proxy/route",
				"proxy/problem", "proxy/pages", "resolver/registry", "resolver/registry/service",
				"resolver/registry/token", "internal/httpmessage",
			},
			true,
			"admin decides who may what, joins the API, the pages of the state and those of editors, and serves " +
				"connections of listen by net/http; it does not depend on the other handlers below proxy",
		},
		{
			"proxy/admin/api",
			[]string{
				"proxy/admin/page", "proxy/message", "proxy/problem", "resolver", "resolver/registry",
				"resolver/registry/bulk", "resolver/registry/diff", "resolver/registry/field",
				"resolver/registry/health", "resolver/registry/jobs", "resolver/registry/mint",
				"resolver/registry/service", "resolver/registry/token", "uri", "internal/api",
				"internal/httpmessage", "internal/quota", "internal/tabular",
			},
			true,
			"the operations of the OpenAPI document show and change what is passed to them, names by their service: " +
				"they know neither sessions nor how a page looks",
		},
		{
			"proxy/admin/page",
			[]string{
				"proxy/message", "proxy/pages", "proxy/problem", "proxy/route", "resolver/registry",
				"resolver/registry/service", "uri", "internal/httpmessage",
			},
			true,
			"what the parts of the admin interface that make pages share: none of them imports another one for it",
		},
		{
			"proxy/admin/editor",
			[]string{
				"proxy/admin/page", "proxy/message", "proxy/pages", "proxy/pages/qr", "proxy/problem", "resolver",
				"resolver/registry", "resolver/registry/bulk", "resolver/registry/count", "resolver/registry/diff",
				"resolver/registry/field", "resolver/registry/health", "resolver/registry/jobs",
				"resolver/registry/mint", "resolver/registry/service", "resolver/registry/title",
				"resolver/registry/token", "internal/api", "internal/charset", "uri", "internal/plaintext",
			},
			true,
			"the pages of editors show and change what the service of the registry does: they know its values, and " +
				"by bulk which columns tables have, no store, and of resolver what a location is",
		},
		{
			"proxy/admin/session",
			[]string{"resolver/registry/token"},
			true,
			"a session is a cookie and the proof by which it began: it knows neither pages nor who may see them",
		},
		{
			"proxy/admin/status",
			[]string{
				"proxy/admin/page", "proxy/message", "proxy/pages", "proxy/problem", "internal/api",
				"internal/metrics", "internal/plaintext",
			},
			true,
			"the pages for operators show values that are passed to them, so that neither admin nor pages knows " +
				"metrics",
		},
		{
			"proxy/admin/stored",
			[]string{
				"proxy/admin/api", "cache/httpcache", "internal/api", "internal/httpmessage", "internal/metrics",
				"resolver", "resolver/ddds", "resolver/slp", "uri",
			},
			true,
			"stored shows the caches to administrators, and purges them with what their contents were made of: it " +
				"knows both, so that the API needs no cache",
		},
		{
			"proxy/proxytest",
			[]string{"internal/httpmessage"},
			true,
			"proxytest gives requests to any handler of httpmessage, and records its responses: it knows no handler " +
				"of urnd",
		},
		{
			"config/table", nil, true,
			"table makes the structs and declarations of config from the table of settings: it runs before config " +
				"is there",
		},
		{
			"config/source", nil, true,
			"source reads files of YAML and TOML, and knows no setting: config says what it must know of them",
		},
		{
			"config",
			[]string{"uri", "config/source"},
			true,
			"config is plain data: it describes the other packages and so depends on none of them, except for the " +
				"syntax of names",
		},
		{
			"systemd", nil, false,
			"systemd is a thin layer over go-systemd: it passes on sockets and notifications, and does not depend " +
				"on what is served",
		},
		{
			"internal/netguard",
			[]string{"uri"},
			true,
			"netguard is the one dialer: its rules must be readable alone, but for the ports of schemes, which are " +
				"in their table",
		},
		{
			"internal/testserver", nil, true,
			"testserver plays the peers on the network: a peer that shares our code shares our bugs",
		},
		{
			"internal/arch", nil, true,
			"arch reads the source of the module and depends on none of it",
		},
		{
			"internal/accesslog",
			[]string{"internal/redact"},
			false,
			"a line of a log may show what a client sent, but no password: accesslog removes them",
		},
		{
			"internal/redact",
			[]string{"uri"},
			false,
			"which schemes have a server, and so passwords, is known to the table of uri alone: a new one is hidden " +
				"as soon as it has its row there",
		},
		{
			"internal/api",
			[]string{"resolver", "resolver/registry", "resolver/registry/field", "uri"},
			true,
			"the documents that the command line and HTTP share are made of values of the domain, names of the " +
				"registry among them, and depend on neither of the two",
		},
		{
			"internal/lifetime", nil, true,
			"a context is watched by a connection, a cache and a proxy that do not know each other: what they share " +
				"knows none of them",
		},
		{
			"internal/charset", nil, true,
			"every source is read by one decoder, whatever is in it: charset knows encodings, and neither formats " +
				"nor who reads them",
		},
		{
			"internal/tabular", nil, true,
			"there is one reader and one writer of CSV, for imports, exports, the API and pages: tabular knows " +
				"cells, and not what is in them",
		},
		{
			"internal/quota", nil, true,
			"what runs out is bounded for a client, whatever it is and wherever: quota knows addresses, and neither " +
				"requests nor the errors of others",
		},
		{
			"internal/httpmessage",
			[]string{"uri"},
			true,
			"messages of HTTP are values below the cache, the schemes and the proxy: they know how they are " +
				"spelled, and nobody who sends or stores them",
		},
		{
			"internal/http1",
			[]string{"internal/httpmessage", "uri"},
			true,
			"the syntax of HTTP/1 is said once, for the server and for the client: it knows messages, and neither " +
				"sockets nor who sends them",
		},
		{
			"internal/daemon",
			[]string{"proxy/listen", "systemd", "internal/httpmessage", "internal/netguard"},
			true,
			"the daemon takes handlers and endpoints: what is served, and by which configuration, is decided in " +
				"cmd/urnd",
		},
		{
			"internal/cli",
			[]string{"internal/plaintext", "internal/redact", "internal/tabular", "config", "resolver", "uri"},
			true,
			"cli is what commands share: flags, statuses, lines of input and output; what a command needs of the " +
				"wiring is passed to it as a function",
		},
		{
			"internal/plaintext", nil, true,
			"how people's texts are read and shown is decided once, for commands, the API and pages: it knows none " +
				"of them",
		},
		{
			"internal/cli/clitest",
			[]string{"internal/cli", "config", "resolver", "urnns"},
			true,
			"clitest runs a command without the program: it depends on no command",
		},
		{
			"internal/cli/uri",
			[]string{"internal/cli", "resolver", "uri", "urnns"},
			true,
			"a family of commands depends on what it shows; these compare and parse names, and open nothing",
		},
		{
			"internal/cli/names",
			[]string{"internal/cli", "urnns"},
			true,
			"a family of commands depends on what it shows: the rows of urnns",
		},
		{
			"internal/cli/resolve",
			[]string{"internal/cli", "internal/api", "internal/netguard", "resolver", "uri"},
			true,
			"a family of commands depends on what it shows; what resolves names is passed to it, and netguard says " +
				"what a failure was",
		},
		{
			"internal/cli/helper",
			[]string{"internal/cli", "internal/redact", "internal/squid", "resolver", "uri"},
			true,
			"a family of commands depends on what it shows; these speak the protocol of Squid's helpers",
		},
		{
			"internal/cli/admin",
			[]string{
				"internal/plaintext", "internal/cli", "internal/api", "internal/netguard",
				"internal/secret", "config",
			},
			true,
			"the client of the admin interface knows where it is and how to be let in, and no document but that of " +
				"a problem",
		},
		{
			"internal/cli/status",
			[]string{"internal/plaintext", "internal/cli", "internal/cli/admin"},
			true,
			"it shows what an urnd says of itself, and depends on its documents alone",
		},
		{
			"internal/cli/cache",
			[]string{"internal/plaintext", "internal/cli", "internal/cli/admin", "internal/api", "uri"},
			true,
			"these commands ask a running urnd as any client does: they depend on its documents, and not on what " +
				"makes them",
		},
		{
			"internal/cli/access",
			[]string{
				"internal/cli", "config", "internal/netguard", "proxy/gate", "proxy/gate/policy", "proxy/route",
				"resolver/scheme", "uri",
			},
			true,
			"these commands ask the gate of the daemon itself, so that they cannot say what it does not do",
		},
		{
			"internal/cli/squidconf", nil, true,
			"a configuration of Squid is text, and becomes text: it knows no package, and reads files by functions",
		},
		{
			"internal/cli/config",
			[]string{
				"internal/cli", "config", "internal/accesslog", "internal/redact", "internal/secret",
				"internal/cli/squidconf", "systemd", "uri",
			},
			true,
			"these commands show a configuration, without its passwords, and what systemd passes on with it; " +
				"whether it can be wired is asked by a function",
		},
		{
			"internal/cli/registry",
			[]string{
				"internal/plaintext", "internal/cli", "internal/api", "internal/charset", "internal/owner",
				"internal/tabular", "config", "systemd", "resolver", "resolver/registry",
				"resolver/registry/audit", "resolver/registry/bulk", "resolver/registry/count",
				"resolver/registry/diff", "resolver/registry/field", "resolver/registry/health",
				"resolver/registry/lint", "resolver/registry/mint", "resolver/registry/service",
				"resolver/registry/sqlite", "resolver/registry/token", "uri",
			},
			true,
			"these commands work on the store of the registry, without a running urnd; which store that is, and " +
				"what resolves, is passed to them",
		},
		{
			"internal/cli/store",
			[]string{
				"internal/cli", "config", "internal/netguard", "internal/secret", "resolver/registry",
				"resolver/registry/postgres", "resolver/registry/sqlite",
			},
			true,
			"the daemon and commands open the same store by the same settings: it knows both drivers, so that the " +
				"registry and its followers know none",
		},
		{
			"internal/cli/man",
			[]string{"internal/cli", "config"},
			true,
			"the manual is made of the commands and of the settings",
		},
		{
			"internal/logs",
			[]string{"internal/plaintext", "internal/redact", "systemd"},
			true,
			"the log goes to the journal of systemd or to a stream, and shows no password",
		},
		{
			"internal/observe",
			[]string{
				"cache", "cache/httpcache", "cache/httpcache/disk", "cache/memory", "cache/valkey", "internal/metrics",
				"internal/netguard", "resolver", "resolver/ddds", "resolver/registry", "resolver/registry/follow",
				"resolver/registry/health", "resolver/registry/jobs", "resolver/scheme",
			},
			true,
			"what happens is told in the words of each part, and counted in those of metrics: observe knows both, " +
				"so that neither knows the other",
		},
		{
			"internal/observe/requests",
			[]string{
				"internal/accesslog", "internal/httpmessage", "internal/metrics", "internal/redact",
				"internal/telemetry", "proxy", "resolver",
			},
			true,
			"an event of the proxy becomes counts, a line of the log and a span: requests knows all four, so that " +
				"none of them knows another",
		},
		{
			"internal/telemetry",
			[]string{"internal/httpmessage"},
			true,
			"a span belongs to the trace that the fields of a request name",
		},
		{
			"internal/secret",
			[]string{"config", "systemd"},
			true,
			"a secret is a file, or a credential of systemd, as a setting names it",
		},
		{
			"internal/*", nil, false,
			"any package may use an internal package, so an internal package depends on none of them; if it needs " +
				"another internal package, give it a row of its own",
		},
		{
			"cmd/urnd",
			[]string{"..."},
			true,
			"cmd/urnd connects the packages: only it depends on all of them",
		},
	}
}

const (
	testserver    = "internal/testserver"
	testserverWhy = "testserver has fake peers and certificates: it must not be linked into the program, so only " +
		"_test.go files import it"
	unlistedWhy = "give it a row in packageRules (internal/arch/arrows_test.go) that says which packages it may " +
		"import, and why"
	requiredWhy = "packageRules (internal/arch/arrows_test.go) requires it; if it was moved, change the path in " +
		"its row"
)

// ruleFor returns the row of a folder.
func ruleFor(table []packageRule, dir string) (packageRule, bool) {
	for _, r := range table {
		if r.path == dir {
			return r, true
		}
	}
	for _, r := range table {
		if matches(r.path, dir) {
			return r, true
		}
	}
	return packageRule{}, false
}

// importedPath returns the path of an import.
func importedPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // unreachable: the parser has checked the literal
	}
	return p
}

// checkDependencies checks the imports between packages of the module against the table.
func checkDependencies(tr *tree, table []packageRule) []finding {
	var found []finding
	unlisted := map[string]bool{}
	for _, s := range tr.code() {
		r, ok := ruleFor(table, s.dir())
		if !ok {
			if !unlisted[s.dir()] {
				unlisted[s.dir()] = true
				found = append(found, finding{
					tr.where(s.ast.Package),
					"package " + s.dir() + " is in no row of packageRules", unlistedWhy,
				})
			}
			continue
		}
		for _, spec := range s.ast.Imports {
			if f, bad := checkDependency(tr, s, r, spec); bad {
				found = append(found, f)
			}
		}
	}
	return found
}

func checkDependency(tr *tree, s *source, r packageRule, spec *ast.ImportSpec) (finding, bool) {
	to, ours := tr.local(importedPath(spec))
	if !ours {
		return finding{}, false
	}
	if matches(testserver+"/...", to) {
		return finding{tr.where(spec.Pos()), s.dir() + " imports " + to + " outside a test", testserverWhy},
			!matches(testserver+"/...", s.dir())
	}
	if slices.ContainsFunc(r.may, func(p string) bool { return matches(p, to) }) {
		return finding{}, false
	}
	may := "none"
	if len(r.may) > 0 {
		may = strings.Join(r.may, ", ")
	}
	what := fmt.Sprintf("%s imports %s; packages of the module that it may import: %s", s.dir(), to, may)
	return finding{tr.where(spec.Pos()), what, r.why}, true
}

// checkRequired reports required packages without code.
func checkRequired(tr *tree, table []packageRule) []finding {
	var found []finding
	for _, r := range table {
		exists := slices.ContainsFunc(tr.code(), func(s *source) bool { return s.dir() == r.path })
		if r.required && !exists {
			found = append(found, finding{
				r.path, "package " + r.path + " is required, but has no Go file",
				requiredWhy,
			})
		}
	}
	return found
}

func TestDependencies(t *testing.T) { report(t, checkDependencies(readModule(t), packageRules())) }

func TestRequiredPackages(t *testing.T) { report(t, checkRequired(readModule(t), packageRules())) }

// TestPackageRules checks the table itself.
func TestPackageRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range packageRules() {
		if seen[r.path] {
			t.Errorf("%s has two rows", r.path)
		}
		seen[r.path] = true
		if r.why == "" {
			t.Errorf("%s has no reason", r.path)
		}
		if r.required && strings.Contains(r.path, "*") {
			t.Errorf("%s is a pattern: only a single package can be required", r.path)
		}
		for _, to := range r.may {
			if _, ok := ruleFor(packageRules(), to); !ok && to != "..." {
				t.Errorf("%s may import %s, which is in no row", r.path, to)
			}
		}
	}
}
