package adversary

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// form is a form of the pages, or another input of a request for a page. WRITTEN in the target, the body or a
// field is the place of the input.
type form struct {
	name, target string
	body         string   // of a POST; "" for GET
	fields       []string // of the request
	admin        bool     // on the admin listener, by a logged-in administrator
	isList       bool     // its page may be as long as its content
}

// written is the placeholder for hostile texts.
const written = "WRITTEN"

// readersForms are the forms of the service.
func readersForms() []form {
	return []form{
		{name: "the form of names", target: "/?uri=WRITTEN"},
		{name: "the form of names, in a language", target: "/?uri=WRITTEN&lang=de"},
		{name: "the language of the start page", target: "/?lang=WRITTEN"},
		{name: "the language of a name", target: "/?uri=urn:plain:a&lang=WRITTEN"},
		{name: "the format of a name", target: "/?uri=urn:plain:a&format=WRITTEN"},
		{name: "a name in a format", target: "/?uri=WRITTEN&format=html"},
		{name: "a URN in the form", target: "/?uri=urn:plain:WRITTEN"},
		{name: "an identifier in the form", target: "/?uri=isbn%20WRITTEN"},
		{name: "a form that is posted", target: "/", body: "uri=WRITTEN"},
		{name: "the form of URLs", target: "/fetch?uri=WRITTEN"},
		{name: "a URL of gopher", target: "/fetch?uri=gopher://a.example/1WRITTEN"},
		{name: "a URL of telnet", target: "/fetch?uri=telnet://WRITTEN@a.example/"},
		{name: "the language of a URL", target: "/fetch?lang=WRITTEN&uri=telnet://a.example/"},
		{name: "the form of URLs that is posted", target: "/fetch", body: "uri=WRITTEN"},
		{name: "the search of namespaces", target: "/namespaces?q=WRITTEN", isList: true},
		{name: "the place in the list of namespaces", target: "/namespaces?after=WRITTEN", isList: true},
		{name: "the language of namespaces", target: "/namespaces?q=isbn&lang=WRITTEN", isList: true},
		{name: "a namespace", target: "/namespaces/WRITTEN"},
		{name: "a preview", target: "/urn:plain:WRITTEN?preview"},
		{name: "what a preview is asked with", target: "/urn:plain:a?preview=WRITTEN"},
		{name: "a preview by a plus", target: "/urn:plain:WRITTEN+"},
		{name: "the preview of a web host", target: "http://purl.example/WRITTEN+"},
		{name: "the page about a name", target: "/uri-res/N2C.html?urn:plain:WRITTEN"},
		{name: "the page about anything", target: "/uri-res/N2C.html?WRITTEN"},
		{name: "the page about a registered name", target: "/uri-res/N2C.html?urn:own:WRITTEN"},
		{name: "a QR code", target: "/uri-res/N2C.qr?urn:plain:WRITTEN"},
		{name: "the format of a description", target: "/uri-res/N2C.WRITTEN?urn:plain:a"},
		{name: "a time", target: "/memento/WRITTEN/urn:plain:a"},
		{name: "an error", target: "/WRITTEN"},
		{name: "a service", target: "/uri-res/WRITTEN?urn:plain:a"},
		{name: "the search of names", target: "/names?q=WRITTEN", isList: true},
		{name: "the names of a prefix", target: "/names?prefix=WRITTEN", isList: true},
		{
			name:   "the place in the list of names",
			target: "/names?after=WRITTEN&cursor=WRITTEN&status=WRITTEN&host=WRITTEN", isList: true,
		},
		{name: "how a name is resolved", target: "/api/v1/explain?uri=WRITTEN"},
		{name: "how a URN is resolved", target: "/api/v1/explain?uri=urn:plain:WRITTEN"},
		{name: "the description of the API", target: "/docs/WRITTEN"},
		{name: "the description of the search", target: "/opensearch.xml?WRITTEN"},
		{name: "the logo", target: "/logo.svg?WRITTEN"},
		{name: "the language of the browser", target: "/urn:plain:", fields: []string{"Accept-Language: WRITTEN"}},
		{
			name: "the page that a link was on", target: "/fetch?uri=gopher://a.example/",
			fields: []string{"Referer: http://WRITTEN/", "Sec-Fetch-Site: WRITTEN"},
		},
		{name: "a cookie", target: "/", fields: []string{"Cookie: lang=WRITTEN; session=WRITTEN"}},
		{name: "the host of the start page", target: "/", fields: []string{"Host: WRITTEN"}},
		{
			name: "the host of the page about a name", target: "/uri-res/N2C.html?urn:plain:a",
			fields: []string{"Host: WRITTEN"},
		},
		{name: "the host of a QR code", target: "/uri-res/N2C.qr?urn:plain:a", fields: []string{"Host: WRITTEN"}},
		{name: "the host of the search", target: "/opensearch.xml", fields: []string{"Host: WRITTEN"}},
		{
			name: "the prefix of a proxy", target: "/",
			fields: []string{"X-Forwarded-Prefix: WRITTEN", "X-Forwarded-Host: WRITTEN", "Forwarded: host=WRITTEN"},
		},
	}
}

// adminForms are the forms of the admin interface: a row for each page with its fields. A POST includes the
// field against cross-site request forgery.
func adminForms() []form {
	return []form{
		{name: "what is there", target: "/?WRITTEN"},
		{name: "a path of the admin interface", target: "/WRITTEN"},
		{name: "the state", target: "/status?WRITTEN"},
		{name: "the script of the state", target: "/status.js?WRITTEN"},
		{name: "where to go after logging in", target: "/login?next=WRITTEN"},
		{name: "where to go after logging in, as a path", target: "/login?next=/WRITTEN"},
		{name: "the token of who logs in", target: "/login", body: "token=WRITTEN"},
		{name: "the token of who logs in, to go on", target: "/login?next=WRITTEN", body: "token=" + adminToken},
		{
			name: "a form that goes along to log in", target: "/login?next=/registry/edit",
			body: "token=wrong&again=WRITTEN", isList: true,
		},
		{
			name: "a form that is sent again", target: "/login?next=/registry/edit",
			body: "token=" + adminToken + "&again=WRITTEN%3DWRITTEN", isList: true,
		},
		{name: "the names with a prefix", target: "/registry/names?prefix=WRITTEN", isList: true},
		{name: "the names with a text", target: "/registry/names?text=WRITTEN", isList: true},
		{name: "the names with a target", target: "/registry/names?target=WRITTEN", isList: true},
		{name: "the names with a status", target: "/registry/names?status=WRITTEN", isList: true},
		{name: "the place in the list of names", target: "/registry/names?cursor=WRITTEN", isList: true},
		{name: "a name", target: "/registry/name?uri=WRITTEN"},
		{name: "a kind of names", target: "/registry/name?uri=urn:own:a&kind=WRITTEN"},
		{name: "what was done", target: "/registry/name?uri=urn:own:a&done=WRITTEN"},
		{name: "the history of a name", target: "/registry/history?uri=WRITTEN"},
		{name: "the place in a history", target: "/registry/history?uri=urn:own:a&cursor=WRITTEN"},
		{name: "a new name", target: "/registry/edit?uri=WRITTEN"},
		{name: "the form of a new name", target: "/registry/edit?name=WRITTEN", isList: true},
		{name: "a version to restore", target: "/registry/edit?uri=urn:own:a&restore=WRITTEN"},
		{
			name: "a name that is edited", target: "/registry/edit",
			body: "do=preview&name=WRITTEN&uri.1=https://a.example/", isList: true,
		},
		{
			name: "the name of one that is saved", target: "/registry/edit", body: "do=save&name=urn:own:WRITTEN&note=n",
			isList: true,
		},
		{
			name: "a target", target: "/registry/edit",
			body:   "do=preview&name=urn:own:b&uri.1=WRITTEN&title.1=WRITTEN&type.1=WRITTEN&language.1=WRITTEN",
			isList: true,
		},
		{
			name: "what is said of a name", target: "/registry/edit",
			body: "do=preview&name=urn:own:c&title=WRITTEN&tags=WRITTEN&metadata=WRITTEN&contact=WRITTEN&note=WRITTEN&alias=WRITTEN", isList: true,
		},
		{
			name: "hidden fields of a name", target: "/registry/edit",
			body:   "do=preview&name=urn:own:d&was=WRITTEN&rest=WRITTEN&version=WRITTEN&status=WRITTEN&redirect=WRITTEN",
			isList: true,
		},
		{name: "what to do with a name", target: "/registry/edit", body: "do=WRITTEN&name=urn:own:e", isList: true},
		{name: "a name that is withdrawn", target: "/registry/withdraw?uri=WRITTEN", body: "do=preview&reason=r"},
		{
			name: "why a name is withdrawn", target: "/registry/withdraw?uri=urn:own:a",
			body: "do=preview&version=1&reason=WRITTEN&successors=WRITTEN&note=WRITTEN", isList: true,
		},
		{name: "the changes of names with a prefix", target: "/registry/changes?prefix=WRITTEN", isList: true},
		{name: "the changes of somebody", target: "/registry/changes?by=WRITTEN", isList: true},
		{name: "the changes of a time", target: "/registry/changes?since=WRITTEN&until=WRITTEN", isList: true},
		{name: "the place in the list of changes", target: "/registry/changes?cursor=WRITTEN", isList: true},
		{name: "a change set", target: "/registry/changes/WRITTEN"},
		{
			name: "a change set that is taken back", target: "/registry/changes/1", body: "do=WRITTEN&note=WRITTEN",
			isList: true,
		},
		{name: "the description of the API", target: "/docs/WRITTEN"},
		{name: "the search of settings", target: "/config?q=WRITTEN", isList: true},
		{name: "what the caches hold", target: "/caches?uri=WRITTEN", isList: true},
		{
			name: "what is purged", target: "/caches", body: "cache=answers&by=WRITTEN&text=WRITTEN&mode=WRITTEN&sure=yes",
			isList: true,
		},
		{
			name: "the cache that is purged", target: "/caches", body: "cache=WRITTEN&by=prefix&text=urn:own:",
			isList: true,
		},
		{name: "the prefixes", target: "/registry/prefixes?prefix=WRITTEN&text=WRITTEN", isList: true},
		{
			name: "the statistics", target: "/registry/statistics?prefix=WRITTEN&uri=WRITTEN&since=WRITTEN&until=WRITTEN",
			isList: true,
		},
		{name: "the targets that are dead", target: "/registry/targets?state=WRITTEN&prefix=WRITTEN", isList: true},
		{
			name: "where targets move", target: "/registry/targets/move?prefix=WRITTEN&replace=WRITTEN&with=WRITTEN",
			isList: true,
		},
		{
			name: "targets that move", target: "/registry/targets/move",
			body: "prefix=urn:own:WRITTEN&replace=WRITTEN&with=WRITTEN&note=WRITTEN", isList: true,
		},
		{name: "a job", target: "/registry/jobs/WRITTEN"},
		{
			name: "a token that is made", target: "/registry/tokens",
			body:   "name=WRITTEN&role=writer&prefixes=WRITTEN&action=WRITTEN&expires=WRITTEN&note=WRITTEN",
			isList: true,
		},
		{name: "the role of a token", target: "/registry/tokens", body: "name=n&role=WRITTEN", isList: true},
		{name: "names that are imported", target: "/registry/import", body: "text=WRITTEN&format=csv", isList: true},
		{name: "the format of an import", target: "/registry/import", body: "text=a&format=WRITTEN", isList: true},
	}
}

// adminToken is the token of the administrator.
const adminToken = "0123456789abcdef0123456789abcdef"

// prepareForms gives the stage a configuration with everything that has forms: a registry, whose hosts have no
// DNS, a site with a logo, and a token for the admin interface.
func prepareForms(s *stage) error {
	token, logo := filepath.Join(s.directory, "token"), filepath.Join(s.directory, "logo.svg")
	for path, text := range map[string]string{
		token: adminToken,
		logo:  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	settings := fmt.Sprintf("registry: {store: 'sqlite:%s', owned: ['urn:own:'], hosts: [purl.example]}\nsite: "+
		"{name: Site, logo: %s, contact: 'mailto:a@a.example', examples: ['urn:plain:a']}\n",
		filepath.Join(s.directory, "registry.db"), logo)
	s.text = strings.Replace(s.config(), "\naccess:\n",
		"\naccess:\n  admin_token: "+token+"\n  browse_clients: [127.0.0.0/8]\n  browse_all_clients: [127.0.0.0/8]\n",
		1) + settings
	return nil
}

// forms are hostile texts in each form of the pages (RFC 9110 section 17.11, HTML section 4.10).
func forms(s *stage) (all []payload) {
	visitor := &visitor{stage: s}
	for _, table := range []struct {
		family string
		admin  bool
		forms  []form
	}{{"forms of readers", false, readersForms()}, {"forms of the admin interface", true, adminForms()}} {
		for _, f := range table.forms {
			f.admin = table.admin
			for _, text := range hostileTexts() {
				if text.isBytes && (f.body != "" || len(f.fields) > 0) && strings.ContainsAny(text.text, "\r\n") {
					continue // would be another request
				}
				all = append(all, payload{
					family: table.family, name: text.name + " as " + f.name, section: text.section, shows: f.fill(text),
					play: func(ctx context.Context) error { return visitor.send(ctx, f, text) },
				})
			}
		}
	}
	return append(all, visitor.forgeries()...)
}

// fill returns the request line, fields and body with a text, for the report.
func (f *form) fill(text hostileText) string {
	target, body, fields := f.with(text)
	return strings.Join(append(append([]string{target}, fields...), body), " | ")
}

// with returns the request with a text, which is percent-encoded in the target and the body unless it is sent
// raw.
func (f *form) with(text hostileText) (target, body string, fields []string) {
	encoded := text.text
	if !text.isBytes {
		encoded = url.QueryEscape(text.text)
		if text.encoded {
			encoded = text.text
		}
	}
	for _, field := range f.fields {
		fields = append(fields, strings.ReplaceAll(field, written,
			strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(text.text)))
	}
	return strings.ReplaceAll(f.target, written, encoded), strings.ReplaceAll(f.body, written, encoded), fields
}
