//go:build e2e

package names

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// The tests of identifiers in web addresses refer to sections of the GS1-Conformant Resolver standard 1.2.1
// ("GR"), and to the checks of GS1's test suite for resolvers ("TS"). gs1-clauses.md contains the table of
// clauses.

const (
	linkHost = "id.example"
	linkRoot = "https://id.example"
	gtin     = "/01/09506000134352"
)

// linked returns targets: "type URI" followed by properties: "lang=de", "type=text/html", "context=FR",
// "title=..." up to the end.
func linked(texts ...string) (r registry.Record) {
	for _, text := range texts {
		fields := strings.Fields(text)
		t := registry.Target{Rel: fields[0], URI: fields[1]}
		for i, field := range fields[2:] {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "lang":
				t.Language = value
			case "type":
				t.Type = value
			case "context":
				t.Context = value
			case "title":
				t.Title = strings.TrimPrefix(strings.Join(fields[2+i:], " "), "title=")
			}
		}
		r.Targets = append(r.Targets, t)
	}
	return r
}

// startIdentifiers runs urnd with an item, a lot of it, and a serial number.
func startIdentifiers(t *testing.T, change func(*config.Config)) (urndtest.Registry, *urndtest.Daemon) {
	t.Helper()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name(linkRoot+gtin), linked(
		"gs1:defaultLink https://shop.example/item title=Dal Giardino",
		"gs1:defaultLinkMulti https://shop.example/de/item lang=de",
		"gs1:defaultLinkMulti https://shop.example/pt/item lang=pt",
		"gs1:pip https://shop.example/item title=Product page",
		"https://gs1.org/voc/instructions https://shop.example/i.html lang=en type=text/html",
		"gs1:instructions https://shop.example/i.pdf lang=en type=application/pdf",
		"gs1:instructions https://shop.example/de/i.pdf lang=de type=application/pdf",
		"gs1:safetyInfo https://shop.example/fr/s context=FR", "gs1:safetyInfo https://shop.example/de/s context=DE",
		"gs1:faqs https://shop.example/faq/1", "gs1:faqs https://shop.example/faq/2",
		"describedby https://shop.example/about lang=es-419",
	))
	r.Put(t, registry.Name(linkRoot+gtin+"/10/L1"),
		linked("gs1:defaultLink https://shop.example/lot", "gs1:recallStatus https://shop.example/recall"))
	r.Put(t, registry.Name(linkRoot+gtin+"/21/S%2F1"), linked("gs1:dpp https://shop.example/passport"))
	r.Put(t, registry.Name(linkRoot+"/00/106141412345678908"), linked("gs1:traceability https://shop.example/trace"))
	r.Put(t, registry.Prefix(linkRoot+"/414/"), linked("gs1:handledBy https://other.example/414/"))
	r.Put(t, registry.Name("https://dpp.example/25P/LHABC%2F1"), linked("gs1:defaultLink https://shop.example/dpp"))
	w := r.Start(t, func(c *config.Config) {
		c.Registry.DigitalLink = urndtest.DigitalLinks()
		if change != nil {
			change(c)
		}
	})
	return r, w
}

// leadsTo checks "status location" of paths of the identifier host, first from the store and then from the
// cache.
func leadsTo(t *testing.T, w *urndtest.Daemon, cases [][]string) {
	t.Helper()
	for _, c := range cases {
		for range 2 {
			if got := w.At(t, http.MethodGet, linkHost, c[0], c[2:]...); got != c[1] {
				t.Errorf("%s %q is %s, want %s", c[0], c[2:], got, c[1])
			}
		}
	}
}

// TestIdentifierLevels: GR 2.6.1, 2.5.9 and TS basicWalkUp: without a link type, an identifier is redirected
// directly to the default link of the most specific level that has one.
func TestIdentifierLevels(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	const item, lot = "307 https://shop.example/item", "307 https://shop.example/lot"
	leadsTo(t, w, [][]string{
		{gtin, item},
		{gtin + "/10/unknown", item},
		{gtin + "/10/L1", lot},
		{gtin + "/22/V/10/L1", lot},
		{gtin + "/10/L1/21/S%2F1", lot},
		{gtin + "/21/S%2f1", item},
		{gtin + "/21/S%2F2", item},
		{gtin + "/235/x", item},
		{gtin + "/10/l1", item}, // values are case-sensitive
		// GR 2.13, TS trailingSlash: a trailing slash is ignored.
		{gtin + "/", item},
		{gtin + "/10/L1/", lot},
		// URI Syntax 4.1: shorter GTINs in old data.
		{"/01/9506000134352", item},
		// GR 2.8: a pattern redirects to another resolver, for any link type.
		{"/414/9521141123454", "307 https://other.example/414/9521141123454"},
		{
			"/414/9521141123454/254/1?linkType=linkset",
			"307 https://other.example/414/9521141123454/254/1?linkType=linkset",
		},
		// GR 2.4.1: valid, but unknown.
		{"/01/09528765123457", "404"},
		{"/00/106141412345678908", "404"},
	})
	if got := w.At(t, http.MethodHead, linkHost, gtin); got != item {
		t.Errorf("HEAD is %s", got)
	}
	if got := w.At(t, http.MethodPost, linkHost, gtin); got != "405" {
		t.Errorf("POST is %s", got)
	}
	// ISO/IEC 18975: another scheme is configuration data, and has identifiers in queries.
	for _, path := range []string{"/25P/LHABC%2F1", "/25P/LHABC%2F1/S/42", "/?.25P=LHABC%2F1&.S=42"} {
		if got := w.At(t, http.MethodGet, "dpp.example", path); !strings.HasPrefix(got,
			"307 https://shop.example/dpp") {
			t.Errorf("%s is %s", path, got)
		}
	}
}

// TestIdentifierQuery: GR 2.12: the query is forwarded unmodified.
func TestIdentifierQuery(t *testing.T) {
	t.Parallel()
	r, w := startIdentifiers(t, nil)
	r.Put(t, registry.Name(linkRoot+"/00/006141411234567890"), linked("gs1:defaultLink https://shop.example/box?a=1#f"))
	r.Put(t, registry.Name(linkRoot+"/01/09528765123457"), linked("gs1:defaultLink https://shop.example/tagged"))
	leadsTo(t, w, [][]string{
		// GR 2.3: EPC binary encoding, in hexadecimal and base64url.
		{"/eh30164596f40c0e5cbe991a83?x=y", "307 https://shop.example/tagged?x=y"},
		{"/exMBZFlvQMDly-mRqD", "307 https://shop.example/tagged"},
		{gtin + "?foo=bar", "307 https://shop.example/item?foo=bar"}, // TS
		{
			gtin + "/10/L1?17=261231&11=260101&x=%C3%a4%2f&x",
			"307 https://shop.example/lot?17=261231&11=260101&x=%C3%a4%2f&x",
		},
		{gtin + "/10/L1?17=261231;x=1", "307 https://shop.example/lot?17=261231;x=1"},
		{gtin + "/?linkType=gs1:pip&a=b", "307 https://shop.example/item?linkType=gs1:pip&a=b"},
		{"/00/006141411234567890?b=2", "307 https://shop.example/box?a=1&b=2#f"},
	})
	for path, want := range map[string]string{
		"/uri-res/N2L?" + linkRoot + gtin + "?x=1":         "303 https://shop.example/item?x=1",
		"/uri-res/N2L?" + linkRoot + "/01/9506000134352/":  "303 https://shop.example/item",
		"/" + linkRoot + gtin + "/10/L1?linkType=gs1:pip":  "307 https://shop.example/item?linkType=gs1:pip",
		"/uri-res/N2L?" + linkRoot + "/01/09506000134351":  "400",
		"/api/v1/resolve?uri=" + linkRoot + gtin + "/10/x": "200",
	} {
		if got := w.At(t, http.MethodGet, "localhost", path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestIdentifierErrors: GR 2.4.1: an invalid Digital Link URI is 400 with an explanation. TS: so is an unknown
// single segment, never 200.
func TestIdentifierErrors(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	for path, message := range map[string]string{
		"/01/09506000134351":       "the check digit should be 2",
		"/8013/1987654Ad4X4bL5ttr": "the check characters should be",
		"/foo":                     "codes and values alternate",
		gtin + "/foo":              "codes and values alternate",
		gtin + "//":                "codes and values alternate", // GR 2.13: one slash
		"/gtin/09506000134352":     "begins with the code of a primary key",
		gtin + "/21/s/10/l":        "in the order 22, 10, 21",
		gtin + "/21/a%20b":         "is not allowed there",
		gtin + "?10=abc":           "are in the path",
		gtin + "?17=2612":          "fewer than 6 characters",
		gtin + "/21/" + "%2E%2E":   "neither",
		"/eh30":                    "EPC",
		"/01/0950600013435":        "check digit",
	} {
		got := w.RequestHost(t, http.MethodGet, linkHost, path, "Accept: application/json")
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Body, message) {
			t.Errorf("%s is %d, %s", path, got.Status, got.Body)
		}
		if again := w.RequestHost(t, http.MethodGet, linkHost, path); again.Status != http.StatusBadRequest {
			t.Errorf("%s is %d", path, again.Status)
		}
	}
	if got := w.At(t, http.MethodGet, linkHost, "/"); got != "200" {
		t.Errorf("the root is %s", got)
	}
}

// TestIdentifierLinkTypes: GR 2.6.2 and 2.14: a link type selects its link, in all spellings; a missing one is
// 404 with the available ones.
func TestIdentifierLinkTypes(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	const query = "?linkType="
	for _, spelling := range []string{
		"gs1:pip", "gs1%3Apip", "https://ref.gs1.org/voc/pip", "https://gs1.org/voc/pip",
		"https%3A%2F%2Fref.gs1.org%2Fvoc%2Fpip", "https%3a%2f%2fgs1.org%2fvoc%2fpip",
	} {
		want := "307 https://shop.example/item" + query + spelling
		leadsTo(t, w, [][]string{{gtin + query + spelling, want}, {gtin + "/10/L1/21/x" + query + spelling, want}})
	}
	leadsTo(t, w, [][]string{
		{gtin + "/10/L1?linkType=gs1:recallStatus", "307 https://shop.example/recall?linkType=gs1:recallStatus"},
		{gtin + "/10/L1?linkType=gs1:defaultLink", "307 https://shop.example/lot?linkType=gs1:defaultLink"},
		{gtin + "/10/L1?linkType=describedby", "307 https://shop.example/about?linkType=describedby"},
		{gtin + "/21/S%2F1?linkType=gs1:dpp", "307 https://shop.example/passport?linkType=gs1:dpp"},
		{gtin + "?linkType=gs1:dpp", "404"},
		{gtin + "?linkType=gs1:nosuchlt", "404"}, // TS
		{
			"/00/106141412345678908?linkType=gs1:traceability",
			"307 https://shop.example/trace?linkType=gs1:traceability",
		},
	})
	got := w.RequestHost(t, http.MethodGet, linkHost, gtin+"?linkType=gs1:nosuchlt", "Accept: application/json")
	if !strings.Contains(got.Body,
		`no link of the type \"https://ref.gs1.org/voc/nosuchlt\"; available: gs1:defaultLink, gs1:defaultLinkMulti, gs1:pip`) {
		t.Errorf("an unknown link type is %s", got.Body)
	}
	if link := `<` + linkRoot + gtin +
		`?linkType=linkset>; rel="linkset"`; !strings.HasPrefix(got.Header.Get("Link"), link) {
		t.Errorf("an unknown link type has the links %q", got.Header["Link"])
	}
	got = w.RequestHost(t, http.MethodGet, linkHost, "/00/106141412345678908", "Accept: application/problem+json")
	if !strings.Contains(got.Body, "it has no default link; available: gs1:traceability") {
		t.Errorf("without a default it is %s", got.Body)
	}
}

// TestIdentifierNegotiation: GR 2.5.8 and 2.6.3: links are selected by media type, then language, then context.
// TS: equal ones are a choice, 300.
func TestIdentifierNegotiation(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	const html, pdf, de = "307 https://shop.example/i.html?", "307 https://shop.example/i.pdf?",
		"307 https://shop.example/de/i.pdf?"
	const q, s = "linkType=gs1:instructions", "linkType=gs1:safetyInfo"
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	leadsTo(t, w, [][]string{
		// Without a link type, only default links are considered.
		{gtin, "307 https://shop.example/de/item", "Accept-Language: de-AT, en;q=0.5"},
		{gtin, "307 https://shop.example/pt/item", "Accept-Language: pt-BR"},
		{gtin, "307 https://shop.example/item", "Accept-Language: ja"},
		{gtin, "307 https://shop.example/item", "Accept-Language: *"},
		{gtin, "307 https://shop.example/item", browser}, // a browser does not get the linkset
		{gtin, "307 https://shop.example/item", "Accept: application/pdf"},
		{gtin + "/10/L1", "307 https://shop.example/lot", "Accept-Language: de"}, // of the level of the default link
		{gtin + "?" + q, html + q, browser, "Accept-Language: de"},
		{gtin + "?" + q, html + q, "Accept: text/html, */*;q=0.1"},
		{gtin + "?" + q, pdf + q, "Accept: application/pdf", "Accept-Language: en"},
		{gtin + "?" + q, de + q, "Accept: application/*", "Accept-Language: de, en;q=0.5"},
		{gtin + "?" + q, de + q, "Accept-Language: de"},
		{gtin + "?" + q, "300", "Accept-Language: en"},
		{gtin + "?" + q, "300", "Accept: application/pdf"},
		{gtin + "?" + q, "300"},
		{gtin + "?" + s + "&context=de", "307 https://shop.example/de/s?" + s + "&context=de"},
		{gtin + "?" + s + "&context=US", "300"},
		{gtin + "?" + s, "300"},
		{gtin + "?linkType=gs1:faqs", "300"},
	})
	got := w.RequestHost(t, http.MethodGet, linkHost, gtin+"/10/L1?linkType=gs1:faqs")
	contexts := checkLinkset(t, got.Body)
	if got.Header.Get("Content-Type") != "application/linkset+json" || len(contexts) != 1 ||
		contexts[0]["anchor"] != linkRoot+gtin || len(contexts[0]) != 3 {
		t.Errorf("a choice is %q, %s", got.Header.Get("Content-Type"), got.Body)
	}
	got = w.RequestHost(t, http.MethodGet, linkHost, gtin+"?linkType=gs1:faqs", browser)
	if got.Status != http.StatusMultipleChoices || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(got.Body, `href="https://shop.example/faq/2"`) {
		t.Errorf("a choice of a browser is %d, %s", got.Status, got.Body)
	}
	for path, vary := range map[string]string{
		gtin: "Accept, Accept-Language", gtin + "/10/L1": "Accept",
		gtin + "?" + q: "Accept, Accept-Language",
	} {
		if got := w.RequestHost(t, http.MethodGet, linkHost, path).Header.Get("Vary"); got != vary {
			t.Errorf("%s varies by %q, want %q", path, got, vary)
		}
	}
}

var (
	relationOfGS1 = regexp.MustCompile(`^([a-z-]+|https?://[A-Za-z0-9./]+)$`)
	languageOfGS1 = regexp.MustCompile(`^[a-z]{2}(-[A-Z]{2})?$`)
	webURL        = regexp.MustCompile(`^https?://`)
)

// checkLinkset validates a linkset by the rules of GS1's schema, which GR 2.10 requires, and returns its
// contexts.
func checkLinkset(t *testing.T, body string) []map[string]any {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	delete(document, "@context")
	list, _ := document["linkset"].([]any)
	if len(document) != 1 || len(list) == 0 {
		t.Fatalf("it is not a linkset: %s", body)
	}
	var contexts []map[string]any
	for _, one := range list {
		context, _ := one.(map[string]any)
		anchor, _ := context["anchor"].(string)
		description, _ := context["itemDescription"].(string)
		if !webURL.MatchString(anchor) || description == "" {
			t.Errorf("a context has the anchor %q, and the description %q", anchor, description)
		}
		for rel, targets := range context {
			if rel != "anchor" && rel != "itemDescription" {
				checkTargets(t, rel, targets)
			}
		}
		contexts = append(contexts, context)
	}
	return contexts
}

func checkTargets(t *testing.T, rel string, value any) {
	t.Helper()
	targets, _ := value.([]any)
	if !relationOfGS1.MatchString(rel) || len(targets) == 0 {
		t.Errorf("the relation %q has %v", rel, value)
	}
	for _, one := range targets {
		target, _ := one.(map[string]any)
		href, _ := target["href"].(string)
		title, _ := target["title"].(string)
		if !webURL.MatchString(href) || title == "" {
			t.Errorf("a link of %s is %v", rel, target)
		}
		languages, _ := target["hreflang"].([]any)
		for _, l := range languages {
			if tag, _ := l.(string); !languageOfGS1.MatchString(tag) {
				t.Errorf("a language is %v", l)
			}
		}
		for name := range target {
			if !slices.Contains([]string{"href", "title", "type", "hreflang", "context"}, name) {
				t.Errorf("a link of %s has %s", rel, name)
			}
		}
	}
}

// TestIdentifierLinkset: GR 2.9 and 2.10: the linkset contains all levels, each with its anchor, and names its
// JSON-LD context in one Link line; it is never a redirect.
func TestIdentifierLinkset(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	const at = gtin + "/10/L1/21/S%2F1"
	for _, c := range []struct{ path, accept, contentType string }{
		{at + "?linkType=linkset", "", "application/linkset+json"},
		{at + "?linkType=all", "*/*", "application/linkset+json"}, // TS: a warning, not an error
		{at, "application/linkset+json", "application/linkset+json"},
		{at, "application/linkset+json, */*;q=0.1", "application/linkset+json"},
		{at + "?foo=bar", "application/json", "application/json"},
		{at + "?linkType=linkset", "application/json", "application/json"},
		{at, "application/ld+json", "application/ld+json"},
	} {
		for range 2 {
			got := w.RequestHost(t, http.MethodGet, linkHost, c.path, "Accept: "+c.accept)
			if got.Status != http.StatusOK || got.Header.Get("Content-Type") != c.contentType ||
				got.Header.Get("Location") != "" {
				t.Errorf("%s by %q is %d %q", c.path, c.accept, got.Status, got.Header.Get("Content-Type"))
				continue
			}
			contexts := checkLinkset(t, got.Body)
			var anchors []string
			for _, context := range contexts {
				anchor, _ := context["anchor"].(string)
				anchors = append(anchors, strings.TrimPrefix(anchor, linkRoot+gtin))
			}
			if !slices.Equal(anchors, []string{"/21/S%2F1", "/10/L1", ""}) {
				t.Errorf("the anchors are %q", anchors)
			}
			if hasContext := strings.Contains(got.Body,
				`"@context":{`); hasContext != (c.contentType == "application/ld+json") {
				t.Errorf("%s has a context: %t", c.contentType, hasContext)
			}
			link := got.Header["Link"]
			isLD := c.contentType == "application/ld+json"
			if len(link) != 1 || strings.Contains(link[0],
				`rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`) == isLD {
				t.Errorf("the links are %q", link)
			}
			if !strings.Contains(got.Header.Get("Vary"), "Accept") {
				t.Errorf("it varies by %q", got.Header.Get("Vary"))
			}
		}
	}
	// GR 2.5.8: one default link, with only a title.
	contexts := checkLinkset(t,
		w.RequestHost(t, http.MethodGet, linkHost, gtin, "Accept: application/linkset+json").Body)
	item := contexts[0]
	defaults, _ := item["https://ref.gs1.org/voc/defaultLink"].([]any)
	only, _ := defaults[0].(map[string]any)
	if len(contexts) != 1 || len(defaults) != 1 || len(only) != 2 || only["href"] != "https://shop.example/item" ||
		only["title"] != "Dal Giardino" {
		t.Errorf("the default links are %v", defaults)
	}
	if list, _ := item["https://ref.gs1.org/voc/instructions"].([]any); len(list) != 3 ||
		item["itemDescription"] != "GTIN 09506000134352" {
		t.Errorf("the item is %v", item)
	}
	if got := w.RequestHost(t, http.MethodHead, linkHost, gtin+"?linkType=linkset"); got.Status != http.StatusOK ||
		got.Body != "" {
		t.Errorf("HEAD is %d", got.Status)
	}
	page := w.RequestHost(t, http.MethodGet, linkHost, gtin+"?linkType=linkset", "Accept: text/html,*/*;q=0.8")
	if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(page.Body, `<script type="application/ld+json">{"@context":`) {
		t.Errorf("the page is %s", page.Body)
	}
	// GR 2.9: redirects link to it; TS: without a relation that begins with gs1:.
	for _, path := range []string{gtin, at, gtin + "?linkType=gs1:pip"} {
		for range 2 {
			link := w.RequestHost(t, http.MethodGet, linkHost, path).Header["Link"]
			if len(link) != 1 || !strings.Contains(link[0], `?linkType=linkset>; rel="linkset"`) ||
				strings.Contains(link[0], `rel="gs1:`) {
				t.Errorf("the links of %s are %q", path, link)
			}
		}
	}
}

// TestIdentifierOptions: GR 2.2: HTTP/1.1 with GET, HEAD and OPTIONS, and CORS. TS expects the methods and the
// linkset in a preflight for "GET,HEAD,OPTIONS".
func TestIdentifierOptions(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	for _, fields := range [][]string{
		nil,
		{"Origin: https://shop.example"},
		{"Origin: https://shop.example", "Access-Control-Request-Method: GET,HEAD,OPTIONS"},
	} {
		got := w.RequestHost(t, http.MethodOptions, linkHost, gtin, fields...)
		if got.Status != http.StatusNoContent || got.Header.Get("Access-Control-Allow-Origin") != "*" ||
			got.Header.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" ||
			got.Header.Get("Allow") != "GET, HEAD, OPTIONS" ||
			!strings.Contains(got.Header.Get("Link"),
				`<https://id.example/01/09506000134352?linkType=linkset>; rel="linkset"`) {
			t.Errorf("%q: %d, %v", fields, got.Status, got.Header)
		}
	}
	for _, path := range []string{gtin, gtin + "?linkType=linkset", "/.well-known/gs1resolver"} {
		if got := w.RequestHost(t, http.MethodGet, linkHost,
			path).Header.Get("Access-Control-Allow-Origin"); got != "*" {
			t.Errorf("%s lets %q read it", path, got)
		}
	}
}

// TestIdentifierDescription: GR 3: the description of the resolver at the root of the host; GR 2.10: the
// JSON-LD context that it names.
func TestIdentifierDescription(t *testing.T) {
	t.Parallel()
	_, w := startIdentifiers(t, nil)
	got := w.RequestHost(t, http.MethodGet, linkHost, "/.well-known/gs1resolver")
	var d struct {
		Root     string   `json:"resolverRoot"`
		Keys     []string `json:"supportedPrimaryKeys"`
		Contexts []string `json:"supportedContextValuesEnumerated"`
		Context  string   `json:"jsonLdContextLocation"`
		Contact  struct{ Fn string }
	}
	if err := json.Unmarshal([]byte(got.Body), &d); err != nil || got.Status != http.StatusOK ||
		got.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d, %v: %s", got.Status, err, got.Body)
	}
	allowed := strings.Fields("all 00 01 253 255 401 402 410 411 412 413 414 415 417 8003 8004 8006 8010 8013 8017 " +
		"8018")
	for _, key := range d.Keys {
		if !slices.Contains(allowed, key) || key == "all" { // would promise all of EPC binary encoding
			t.Errorf("a key is %s", key)
		}
	}
	if d.Root != linkRoot || len(d.Keys) != 16 || len(d.Contexts) != 2 || d.Contact.Fn != "Example Ltd" {
		t.Errorf("it is %s", got.Body)
	}
	context := w.RequestHost(t, http.MethodGet, linkHost, strings.TrimPrefix(d.Context, linkRoot))
	if context.Status != http.StatusOK || context.Header.Get("Content-Type") != "application/ld+json" ||
		!json.Valid([]byte(context.Body)) {
		t.Errorf("the context is %d: %s", context.Status, context.Body)
	}
	for _, host := range []string{"purl.example", "dpp.example"} {
		if got := w.RequestHost(t, http.MethodGet, host, "/.well-known/gs1resolver"); got.Status == http.StatusOK {
			t.Errorf("%s is a resolver of GS1, too", host)
		}
	}
}

// TestIdentifierChanges checks that a changed level affects all names of its item, also if another process has
// changed it.
func TestIdentifierChanges(t *testing.T) {
	t.Parallel()
	r, w := startIdentifiers(t, nil)
	at := func(path, want string) {
		t.Helper()
		testserver.Wait(t, path+" is "+want, func() bool { return w.At(t, http.MethodGet, linkHost, path) == want })
	}
	deep := gtin + "/22/V/10/L1/21/new"
	leadsTo(t, w, [][]string{
		{deep, "307 https://shop.example/lot"},
		{gtin + "/21/new", "307 https://shop.example/item"},
		{gtin + "/10/other", "307 https://shop.example/item"},
	})
	r.Put(t, registry.Name(linkRoot+gtin+"/21/new"), linked("gs1:defaultLink https://shop.example/serial"))
	at(deep, "307 https://shop.example/serial")
	at(gtin+"/21/new", "307 https://shop.example/serial")
	r.Put(t, registry.Name(linkRoot+gtin), linked("gs1:defaultLink https://shop.example/moved"))
	at(gtin+"/10/other", "307 https://shop.example/moved")
	at(gtin, "307 https://shop.example/moved")
	r.Put(t, registry.Name(linkRoot+gtin), registry.Record{Status: registry.Withdrawn, Reason: "it was recalled"})
	at(gtin, "410")
	at(gtin+"/10/other", "410")
	at(deep, "307 https://shop.example/serial")
}
