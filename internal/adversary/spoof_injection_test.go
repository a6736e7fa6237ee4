package adversary

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// injections put line breaks, markup and schemes into names and locations, to turn them into fields, markup or
// code (RFC 9110 section 17.11, RFC 3986 section 7).
func (s *stage) injections() []payload {
	var payloads []payload
	add := func(name, section, target string, fields ...string) {
		payloads = append(payloads,
			payload{name: name, section: section, shows: target, play: func(ctx context.Context) error {
				return safelisted(get(ctx, s.service, friend, target, fields...))
			}})
	}
	for _, end := range []string{
		"%0d%0a", "%0a", "%0d", "%0D%0A", "%250d%250a", "%E5%98%8A%E5%98%8D", "%E2%80%A8", "%C2%85", "%c0%8a",
		"%u000d%u000a", "%00", "%0d%0a%20", "%0d%0a%0d%0a<script>alert(1)</script>",
	} {
		for _, form := range []string{
			"/urn:plain:a%sEvil:%%201", "/?uri=urn:plain:a%sEvil:%%201", "/uri-res/N2L?urn:plain:a%sEvil:%%201",
			"/uri-res/N2Ls?urn:plain:a%sEvil:%%201", "/urn:plain:a?=%sEvil:%%201", "/http://a.example/%sEvil:%%201",
			"/?uri=http://a.example/%sEvil:%%201", "/uri-res/N2C.linkset?urn:plain:a%sEvil:%%201",
			"/uri-res/N2C.links?urn:plain:a,%sEvil:%%201", "/uri-res/N2C.%sEvil:%%201?urn:plain:a",
			"/?uri=urn:plain:a&format=%sEvil:%%201", "/uri-res/N2C.bibtex?urn:plain:a%sEvil:%%201",
			"/timegate/urn:plain:a%sEvil:%%201", "/timemap/urn:plain:a%sEvil:%%201",
			"/memento/20260101000000/urn:plain:a%sEvil:%%201",
			"/memento/%sEvil:%%201/urn:plain:a",
			"/ark:12345/a%sEvil:%%201?info",
			"/api/handles/10.1/a%sEvil:%%201?type=%%0d%%0aEvil:%%201",
			"/01/09506000134352/10/%sEvil:%%201?linkType=gs1:pip",
		} {
			add("line end "+end, "RFC 9110 section 17.11", fmt.Sprintf(form, end))
		}
	}
	for _, text := range []string{
		"<script>alert(1)</script>", "\"><script>alert(1)</script>", "'><img src=x onerror=alert(1)>",
		"javascript:alert(1)", "</title><script>alert(1)</script>", "{{7*7}}", "${7*7}",
	} {
		for _, form := range []string{
			"/", "/urn:plain:", "/?uri=", "/?uri=urn:", "/uri-res/N2L?", "/api/v1/resolve?uri=",
			"/uri-res/N2C.html?urn:plain:", "/uri-res/N2C.", "/?uri=urn:plain:a&format=", "/timegate/",
			"/timemap/urn:plain:", "/memento/", "/api/handles/", "/ark:12345/",
			"/01/09506000134352?linkType=",
		} {
			for _, accept := range []string{"Accept: text/html", "Accept: application/json"} {
				add("markup", "RFC 9110 section 17.11", form+url.PathEscape(text), accept)
			}
		}
	}
	for _, host := range []string{
		`a.example">; rel="cite-as"`, "a.example,b.example", "a.example;x=y", "a.example/../",
		"a@b.example", "[::1", "a.example:80:80", "%0d%0aEvil:1",
	} {
		payloads = append(payloads,
			payload{
				name: "the host " + host, section: "RFC 8288 section 3", shows: "Host: " + host,
				play: func(ctx context.Context) error {
					got, err := get(ctx, s.service, friend, "/urn:plain:a", "Host: "+host)
					if err == nil && strings.Contains(got.header.Get("Link"), host) {
						return fmt.Errorf("it is in the links: %s", got.header.Get("Link"))
					}
					return safelisted(got, err)
				},
			})
	}
	for _, location := range []string{
		"http://a.example/\r\nEvil: 1", "http://a.example/\nEvil: 1", "http://a.example/\x00", "http://a.example/ b",
		"javascript:alert(1)",
		"JavaScript:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)",
		"data:text/html,<script>alert(1)</script>", "vbscript:a", "file:///etc/passwd",
		"//evil.example/", "/evil", "", "http:", "http://", "http:///a", "http://a b/", "http://\xff/",
		"\xef\xbb\xbfhttp://a.example/",
		"http://a.example/<script>alert(1)</script>", "view-source:http://a.example/", "blob:http://a.example/1",
		"about:blank", "intent://a#Intent;end",
	} {
		nid, urn := s.id(), "urn:held:"+s.id()
		rule := `!^.*$!` + masterFile(location) + `!`
		s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "u" "http+N2L" "`+rule+`" .`)
		s.origin.on("/uri-res/N2L?"+urn,
			respond("HTTP/1.1 302 Found\r\nLocation: "+location+"\r\nContent-Length: 0\r\n\r\n"))
		list := location + "\r\n"
		s.origin.on("/uri-res/N2Ls?"+urn,
			respond(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\nContent-Length: %d\r\n\r\n%s",
				len(list), list)))
		add(fmt.Sprintf("the location %.40q of a record", location), "RFC 3404 section 4.3", "/urn:"+nid+":a")
		add(fmt.Sprintf("the location %.40q of a server", location), "RFC 2169 section 3", "/"+urn)
		add(fmt.Sprintf("the location %.40q of a list", location), "RFC 2483 section 5", "/uri-res/N2Ls?"+urn)
	}
	return inFamily("injections", payloads)
}

// masterFile escapes a text for a master file: RFC 1035 section 5.1.
func masterFile(text string) string {
	var escaped strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&escaped, `\%03d`, c)
			continue
		}
		escaped.WriteByte(c)
	}
	return escaped.String()
}

// safelisted returns an error if a response contains an injected field, markup or scheme.
func safelisted(got reply, err error) error {
	if err != nil {
		return err
	}
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(got.header.Get("Location"))), ":")
	isHTML := strings.HasPrefix(got.header.Get("Content-Type"), "text/html")
	lower := strings.ToLower(got.body)
	switch {
	case got.header.Get("Evil") != "" || len(got.header["Link"]) > 1:
		return errors.New("a field was injected")
	case got.status == 500:
		return errors.New("it is answered 500")
	case got.status >= 300 && got.status < 400 && scheme != "http" && scheme != "https":
		return fmt.Errorf("it is redirected to %q", got.header.Get("Location"))
	case isHTML && (strings.Contains(lower, "<script>alert") || strings.Contains(lower, "<img src=x") ||
		strings.Contains(lower, "href=\"javascript:")):
		return errors.New("markup was injected into a page")
	case got.header.Get("Content-Type") == "text/uri-list" &&
		(strings.Contains(lower, "javascript:") || strings.Contains(lower, "\nevil")):
		return fmt.Errorf("the list is %q", got.body)
	case got.body != "" && !strings.EqualFold(got.header.Get("X-Content-Type-Options"), "nosniff") &&
		strings.Contains(lower, "<script>"):
		return errors.New("a browser may take the reply for a page")
	default:
		return nil
	}
}
