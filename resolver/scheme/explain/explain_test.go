package explain_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/explain"
	"github.com/urnd/urnd/uri"
)

func fetch(t *testing.T, text string) (*scheme.Resource, error) {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	ports := scheme.Ports{
		Deny:  func(port uint16) bool { return port == 6379 || port == 9001 },
		Allow: func(port uint16) bool { return port == 99 },
	}
	gateways := scheme.Infos{{Names: []string{"telnet"}, Service: "remote sessions (telnet)"}}
	return explain.New(explain.Config{Ports: ports, ServiceAt: gateways.ServiceAt}).Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
}

func explained(t *testing.T, text string) *scheme.Listing {
	t.Helper()
	resource, err := fetch(t, text)
	if err != nil || resource.Listing == nil || resource.Listing.Kind != scheme.KindDescription {
		t.Fatalf("%s: %+v, %v", text, resource, err)
	}
	return resource.Listing
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		section, uri string
		open         string // "" for none
		parts        string
		text         string
	}{
		{
			"RFC 1738 section 3.8", "telnet://melvyl.ucop.edu", "telnet://melvyl.ucop.edu/",
			"Host=melvyl.ucop.edu|Port=23 (the usual one)", "",
		},
		{
			"RFC 4248 section 2", "TELNET://User@[2001:DB8::1]:2323/", "telnet://User@[2001:db8::1]:2323/",
			"Host=[2001:db8::1]|Port=2323|User=User", "",
		},
		{
			"section 3.8: a password", "telnet://a:hunter2@h:23/", "telnet://a@h/",
			"Host=h|Port=23 (the usual one)|User=a|Password=(not shown)", "",
		},
		{
			"section 3.8: a password alone", "telnet://:hunter2@h/", "telnet://@h/",
			"Host=h|Port=23 (the usual one)|Password=(not shown)", "",
		},
		{
			"section 3.11", "prospero://host.dom//pros/name", "prospero://host.dom//pros/name",
			"Host=host.dom|Port=1525 (the usual one)|Object name=/pros/name", "",
		},
		{
			"section 3.11: fields", "prospero://h:1526/x%20y;a=1;b%3d=%c3%a9",
			"prospero://h:1526/x%20y;a=1;b%3D=%C3%A9", "Host=h|Port=1526|Object name=x y|Field a=1|Field b==é", "",
		},
		{
			"RFC 6068 section 6.1", "mailto:infobot@example.com?subject=current-issue",
			"mailto:infobot@example.com?subject=current-issue", "To=infobot@example.com|Subject=current-issue", "",
		},
		{
			"RFC 6068 section 6.1: body", "mailto:a@EXAMPLE.com?body=send%20current-issue%0D%0Asend%20index",
			"mailto:a@example.com?body=send%20current-issue%0D%0Asend%20index", "To=a@example.com",
			"send current-issue\nsend index",
		},
		{
			"RFC 6068 section 6.1: cc", "mailto:j@example.com?cc=bob@example.com&in-reply-to=%3C34@x%3E",
			"mailto:j@example.com?cc=bob@example.com&in-reply-to=%3C34@x%3E",
			"To=j@example.com|Cc=bob@example.com|In-Reply-To=<34@x>", "",
		},
		{
			"RFC 6068 section 2: to", "mailto:?to=a@x.example,b@x.example", "mailto:a@x.example,b@x.example",
			"To=a@x.example|To=b@x.example", "",
		},
	} {
		t.Run(c.section, func(t *testing.T) {
			l := explained(t, c.uri)
			var parts []string
			for _, p := range l.Properties {
				parts = append(parts, p.Name+"="+p.Value)
			}
			if got := strings.Join(parts, "|"); got != c.parts || l.Text != c.text {
				t.Errorf("%s %q, want %s %q", got, l.Text, c.parts, c.text)
			}
			if l.Open == nil || l.Open.URI != c.open || l.URI != c.open || l.Title != c.open || l.Open.Text == "" ||
				len(l.Notes) < 2 {
				t.Errorf("%+v, %+v", l.Open, l)
			}
			if strings.Contains(fmt.Sprintf("%+v %+v", l, l.Open), "hunter2") {
				t.Errorf("the password is shown: %+v", l)
			}
		})
	}
}

// TestWarnings covers RFC 1738 section 6, and RFC 6068 sections 4 and 7.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		uri      string
		warnings []string // a part of each warning
		noLink   bool
	}{
		{"telnet://h/", nil, false},
		{"telnet://h:/", nil, false},
		{"telnet://h:0023/", nil, false},
		{"telnet://user@h:99/", []string{"Port 99 is not the usual port of telnet, which is 23"}, false},
		{"telnet://h:4000/", []string{"Port 4000 is not the usual"}, false},
		{"telnet://h:25/", []string{"Port 25 is the port of mail (SMTP)"}, true},
		{"telnet://h:6379/", []string{"caches (Redis"}, true},
		{"telnet://h:9001/", []string{"should not name"}, true},
		{"telnet://h:98/", []string{"should not name"}, true},
		{"prospero://h:23/x", []string{"telnet"}, true},
		{"telnet://a:b@h/", []string{"This address contains a password"}, false},
		{
			"telnet://www.bank.example@evil.example/",
			[]string{`"www.bank.example", before the at sign, is a user name, although it looks like a host name. The server is evil.example.`},
			false,
		},
		{"telnet://192.0.2.1@h/", []string{"is a user name"}, false},
		{"telnet://bank.example%2Flogin@h/", []string{"is a user name"}, false},
		{"telnet://bank.example:23@h/", []string{"password", "is a user name"}, false},
		{"telnet://a%0D%0Ab@h/", []string{"The user contains an encoded line end"}, true},
		{
			"telnet://a:%0a@h/",
			[]string{"This address contains a password", "The password contains an encoded line end"},
			true,
		},
		{"telnet://a%1bb@h/", []string{"The user contains an encoded control character"}, true},
		{"telnet://%E2%80%AEa@h/", []string{"The user contains an invisible character"}, true},
		{"prospero://h/a%0Ab", []string{"The object name contains an encoded line end"}, true},
		{"prospero://h/a;b=%0D", []string{"The field b contains an encoded line end"}, true},
		{"prospero://h/a;b%0D=c", []string{"The name of a field contains an encoded line end"}, true},
		{
			"mailto:a@h.example?subject=x%0D%0ABcc:%20b@h.example",
			[]string{"The subject contains an encoded line end"},
			true,
		},
		{"mailto:a@h.example?body=x%0D%0Ay%09z", nil, false},
		{"mailto:a@h.example?body=x%00", []string{"The message contains an encoded control"}, true},
		{"mailto:a@h.example?bcc=b@h.example", []string{"blind copies"}, false},
		{"mailto:a@h.example?cc=b@h.example&subject=x&keywords=y", []string{"adds recipients (cc)"}, false},
		{"mailto:a@h.example?x-run=y", []string{`"X-Run" is not safe in an address`}, false},
		{"mailto:a@h.example?attach=/etc/passwd", []string{"a file from your computer"}, true},
	} {
		t.Run(c.uri, func(t *testing.T) {
			l := explained(t, c.uri)
			if len(l.Warnings) != len(c.warnings) || (l.Open == nil) != c.noLink {
				t.Fatalf("%q, %+v", l.Warnings, l.Open)
			}
			for i, part := range c.warnings {
				if !strings.Contains(l.Warnings[i], part) {
					t.Errorf("%q does not say %q", l.Warnings[i], part)
				}
			}
			for _, p := range l.Properties {
				if strings.ContainsAny(p.Name+p.Value, "\r\n\x00\x1b\u202e") {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// TestOthers requires that other URIs are explained, with a link that opens a program.
func TestOthers(t *testing.T) {
	for text, want := range map[string]string{
		"tn3270://library.example/":      "3270",
		"rlogin://guest@library.example": "rlogin program",
		"ftps://h.example/a%20b":         "FTP server that speaks TLS",
		"gemini://h.example/a?b":         "Gemini protocol",
	} {
		l := explained(t, text)
		if !strings.Contains(strings.Join(l.Notes, " "), want) || l.Open == nil ||
			!strings.HasPrefix(l.Open.URI, text) || len(l.Warnings) > 0 {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

func TestCacheControl(t *testing.T) {
	for text, want := range map[string]string{
		"telnet://h/": "", "telnet://a@h/": "no-store",
		"mailto:a@h.example": "",
	} {
		if resource, err := fetch(t, text); err != nil || resource.Fields.Get("Cache-Control") != want {
			t.Errorf("%s: %+v, %v", text, resource, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{
		"telnet://h/path", "telnet:h", "prospero://h/", "prospero://u@h/x", "mailto:a",
		"mailto://a@h.example",
	} {
		resource, err := fetch(t, text)
		var parse *uri.ParseError
		if !errors.As(err, &parse) {
			t.Errorf("%s: %+v, %v", text, resource, err)
		}
	}
	if _, err := fetch(t, "gopher://h/"); !errors.Is(err, scheme.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
