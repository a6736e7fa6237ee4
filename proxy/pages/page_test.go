package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/urnd/urnd/internal/api"

	"github.com/urnd/urnd/proxy/pages"
)

// hostile is text that would be markup if it were not escaped.
const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)><!--</title></style>&amp;{{.}}`

// element is an element of a page, with its attributes and text.
type element struct {
	name  string
	attrs map[string]string
	text  string
	// isContent is true for elements in the main element: the others are the same on all pages.
	isContent bool
}

// isCopyScript reports whether an element is the only script of pages for readers.
func (e *element) isCopyScript() bool {
	return e.name == "script" && (e.attrs["src"] == pages.PathCopy || e.attrs["src"] == "/resolver"+pages.PathCopy)
}

// isOwnScript reports whether an element is a script of urnd.
func (e *element) isOwnScript() bool {
	return e.isCopyScript() || e.name == "script" && e.attrs["src"] == "/status.js"
}

// read returns the elements of a page. It fails the test if the markup is not balanced, has a comment, or
// contains an element or attribute that no page of urnd uses.
func read(t *testing.T, page []byte) []*element {
	t.Helper()
	known := strings.Fields("html meta title style h1 p code mark small a ul ol li table caption thead tbody tr th " +
		"td form label input button details summary body nav main bdi pre dl dt dd div span h2 time data header " +
		"footer b img script svg g rect path text link h3 polyline select option")
	var all, open []*element
	tokens := html.NewTokenizer(strings.NewReader(string(page)))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		token := tokens.Token()
		switch kind {
		case html.TextToken:
			for _, e := range open {
				e.text += token.Data
			}
		case html.StartTagToken:
			e := &element{name: token.Data, attrs: make(map[string]string)}
			e.isContent = slices.ContainsFunc(open, func(around *element) bool { return around.name == "main" })
			for _, attr := range token.Attr {
				e.attrs[attr.Key] = attr.Val
				ours := strings.HasSuffix(attr.Val, "/logo.svg") || strings.Contains(attr.Val, "/uri-res/N2C.qr?") ||
					e.isOwnScript()
				if strings.HasPrefix(attr.Key, "on") || attr.Key == "src" && !ours || attr.Key == "style" {
					t.Errorf("%s has the attribute %s", e.name, attr.Key)
				}
			}
			if href := strings.ToLower(strings.TrimSpace(e.attrs["href"] + e.attrs["action"])); strings.HasPrefix(href,
				"javascript:") || strings.HasPrefix(href, "data:") || strings.HasPrefix(href, "vbscript:") {
				t.Errorf("%s leads to %q", e.name, href)
			}
			if e.name == "script" && !e.isOwnScript() && e.attrs["type"] != "application/ld+json" {
				t.Error("a script")
			}
			if e.name == "link" && (e.attrs["rel"] != "search" || e.isContent) {
				t.Errorf("a link %v", e.attrs)
			}
			if !slices.Contains(known, e.name) {
				t.Errorf("an element %s", e.name)
			}
			all = append(all, e)
			if e.name != "meta" && e.name != "input" && e.name != "img" && e.name != "link" { // void elements
				open = append(open, e)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1].name != token.Data {
				t.Fatalf("</%s> ends nothing: %s", token.Data, page)
			}
			open = open[:len(open)-1]
		case html.CommentToken:
			t.Errorf("a comment %q", token.Data)
		case html.DoctypeToken:
			if token.Data != "html" || len(all) > 0 {
				t.Errorf("a document type %q behind %d elements", token.Data, len(all))
			}
		}
	}
	if len(open) > 0 || len(all) == 0 {
		t.Fatalf("%d elements of %d do not end: %s", len(open), len(all), page)
	}
	return all
}

// content returns the elements in the main element.
func content(all []*element) []*element {
	return slices.DeleteFunc(slices.Clone(all), func(e *element) bool { return !e.isContent })
}

// texts returns the texts of all elements with a name.
func texts(elements []*element, name string) []string {
	var found []string
	for _, e := range elements {
		if e.name == name {
			found = append(found, e.text)
		}
	}
	return found
}

// A page through the proxy tells about the site, and has no form, since it would be submitted to that site.
func TestForwardedPage(t *testing.T) {
	for status, want := range map[int][2]string{
		http.StatusBadGateway: {
			"This resource cannot be reached",
			"got no response from it. The server refused the connection.",
		},
		http.StatusGatewayTimeout: {
			"This resource cannot be reached",
			"got no response from it. The server refused the connection.",
		},
		http.StatusServiceUnavailable: {"Service Unavailable", "is busy"},
		http.StatusForbidden:          {"Forbidden", "did not forward the request. The server refused the connection."},
	} {
		const u = "http://a.example/b"
		page := string(problem(api.Problem{
			Status: status, Title: http.StatusText(status), Code: "connection_refused",
			Forwarded: true, Input: u,
		}))
		if !strings.Contains(page, want[1]) || strings.Contains(page, "<form") ||
			!strings.Contains(page, "<h1>"+want[0]+"</h1>") || !strings.Contains(page, u) {
			t.Errorf("%d: %s", status, page)
		}
	}
}

// An error of a server of another protocol is explained, with the noun for its resources.
func TestRefusedPage(t *testing.T) {
	for _, tt := range []struct {
		status         int
		uri, noun      string
		title, message string
	}{
		{
			404, "ftp://h.example/a", "file", "This file or directory does not exist",
			"The server has no such file or directory.",
		},
		{
			404, "news:a@h.example", "article", "This article or newsgroup does not exist",
			"The server has no such article or newsgroup.",
		},
		{410, "GOPHER://h.example/", "menu", "This document or menu does not exist", "no longer has it"},
		{401, "nntp://h.example/a", "", "A password is required", "requires a user name and a password"},
		{403, "wais://h.example/a", "", "The server refused the request", "denies access to it"},
		{404, "other://h.example/", "", "This resource does not exist", "The server has no such resource."},
		{400, "", "", "The server refused the request", "does not understand this address"},
		{503, "ftp://h.example/", "", "The server refused the request", "busy"},
		{501, "ftp://h.example/", "", "The server refused the request", "does not support the request"},
		{502, "ftp://h.example/", "", "The server refused the request", "The server failed"},
	} {
		for _, isFetched := range []bool{false, true} {
			page := problem(api.Problem{
				Status: tt.status, Code: "server_refused", Values: []string{"Reply", hostile},
				Input: tt.uri, Noun: tt.noun, Forwarded: true, Refused: true, Fetched: isFetched,
			})
			elements := read(t, page)
			reported := strings.Join(texts(elements, "p"), "\n")
			if got := texts(elements, "h1"); got[0] != tt.title || !strings.Contains(reported, tt.message) ||
				!strings.Contains(reported,
					hostile) || strings.Contains(string(page), "<form") != isFetched {
				t.Errorf("%+v: %s", tt, page)
			}
		}
	}
}

// Text of external origin stays text on every page.
func TestPagesEscape(t *testing.T) {
	offset := 3
	for _, tt := range []struct {
		name  string
		page  []byte
		where string // an element that contains the text
		title string
	}{
		{
			"a problem",
			problem(api.Problem{
				Status: 418, Title: hostile, Code: "rule_denies", Values: []string{"Rule", hostile},
				Input: hostile,
			}), "code", hostile,
		},
		{
			"a reason", problem(api.Problem{Status: 404, Title: "Not Found", Code: "no_rule", More: hostile}), "p",
			"This name was not found",
		},
		{"a rule", problem(api.Problem{
			Status: 400, Title: "Bad Request", Code: "not_valid", Input: hostile, Offset: &offset, Rule: hostile,
			RuleCode: "pattern", RuleValue: hostile,
			Section: hostile,
		}), "p", "This name is not valid"},
		{
			"a failure of a proxy",
			problem(api.Problem{
				Status: 403, Title: "Forbidden", Code: "rule_denies", Values: []string{"Rule", hostile},
				Forwarded: true,
			}), "small", "Forbidden",
		},
		{"a list", english().List(hostile, []string{hostile, "javascript:" + hostile}).Body, "a", hostile},
		{"a description", english().Description(hostile, [][2]string{{hostile, hostile}}).Body, "td", hostile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			elements := read(t, tt.page)
			if got := strings.Join(texts(elements, tt.where), "\n"); !strings.Contains(got, hostile) {
				t.Errorf("%s: %q", tt.where, got)
			}
			if got := texts(elements, "title"); len(got) != 1 || !strings.HasPrefix(got[0], tt.title) {
				t.Errorf("title %q", got)
			}
		})
	}
}

func TestHome(t *testing.T) {
	elements := read(t, english().Home(false).Body)
	if got := texts(elements, "h1"); !slices.Equal(got, []string{"urnd"}) {
		t.Errorf("headings %q", got)
	}
	if !slices.ContainsFunc(elements, func(e *element) bool { return e.name == "input" && e.attrs["name"] == "uri" }) {
		t.Error("no field for a URI")
	}
	leadsToFetch := func(e *element) bool { return e.name == "a" && e.attrs["href"] == "/fetch" }
	if slices.ContainsFunc(elements, leadsToFetch) ||
		!slices.ContainsFunc(read(t, english().ForFetching().Home(false).Body), leadsToFetch) {
		t.Error("a link to /fetch for an unauthorized client, or none for an authorized one")
	}
}

// A link leads to a location, or to this server, never to a script.
func TestListLinks(t *testing.T) {
	for _, tt := range []struct{ uri, href string }{
		{"http://a.example/?b=1&c=2", "http://a.example/?b=1&c=2"},
		{"mailto:a@a.example", "mailto:a@a.example"},
		{"ftp://a.example/b", "ftp://a.example/b"},
		{"urn:isbn:9780395363416", "/urn:isbn:9780395363416"},
		{"urn:a1:b(c)'d", "/urn:a1:b(c)'d"}, // percent-encoding would change the name: RFC 8141 section 3.1
		{"http://a.example/(b)", "http://a.example/(b)"},
		{`urn:a1:b" onclick="alert`, `/urn:a1:b" onclick="alert`},
		{"javascript:alert", "/javascript:alert"},
		{"data:text/html,a", "/data:text/html,a"},
		{"JavaScript:alert", "/JavaScript:alert"},
	} {
		elements := read(t, english().List("urn:a1:b", []string{tt.uri}).Body)
		i := slices.IndexFunc(elements, func(e *element) bool { return e.name == "a" && e.isContent })
		if i < 0 {
			t.Errorf("%s: no link", tt.uri)
		} else if href := elements[i].attrs["href"]; href != tt.href || elements[i].text != tt.uri {
			t.Errorf("%s: %q leads to %q", tt.uri, elements[i].text, href)
		}
	}
	if got := texts(content(read(t, english().List("urn:a1:b", nil).Body)), "li"); !slices.Equal(got,
		[]string{"None is known."}) {
		t.Errorf("an empty list: %q", got)
	}
}

func TestDescription(t *testing.T) {
	elements := read(t, english().Description("urn:a1:b",
		[][2]string{{"identifier", "urn:a1:b"}, {"status", "located"}}).Body)
	if names, values := texts(elements, "th"), texts(elements, "td"); !slices.Equal(names,
		[]string{"identifier", "status"}) || !slices.Equal(values,
		[]string{"urn:a1:b", "located"}) {
		t.Errorf("%q, %q", names, values)
	}
}

// The invalid byte is marked, with its context.
func TestProblemMarks(t *testing.T) {
	long := strings.Repeat("a", 100)
	near := long[:60]
	for _, tt := range []struct {
		input       string
		offset      int
		mark, shown string
	}{
		{"urn:a b", 5, " ", "urn:a b"},
		{"urn:a", 5, "␣", "urn:a␣"},
		{"urn:a", 99, "␣", "urn:a␣"},
		{"urn:a", -1, "u", "urn:a"},
		{"", 0, "␣", "␣"},
		{"<b>", 0, "<", "<b>"},
		{"urn:a1:äb", 7, "ä", "urn:a1:äb"},
		{"urn:a1:\xe4b", 7, "\uFFFD", "urn:a1:\uFFFDb"},
		{long + "|" + long, 100, "|", "…" + near + "|" + near + "…"},
		{near + "|" + near, 60, "|", near + "|" + near},
		{"urn:ex%C3%A4m:a", 6, "%C3%A4", "urn:ex%C3%A4m:a"},
		{"urn:ex%20m:a", 6, "%20", "urn:ex%20m:a"},
		{"urn:ex%zz:a", 6, "%", "urn:ex%zz:a"},
		{"urn:ex%C3", 6, "%C3", "urn:ex%C3"},
	} {
		p := api.Problem{
			Status: http.StatusBadRequest, Input: tt.input, Offset: &tt.offset, Rule: "path",
			RuleCode: "path",
		}
		elements := read(t, problem(p))
		if mark, shown := texts(elements, "mark"), texts(elements, "code"); !slices.Equal(mark, []string{tt.mark}) ||
			!slices.Equal(shown, []string{tt.shown}) {
			t.Errorf("%q at %d: %q in %q", tt.input, tt.offset, mark, shown)
		}
	}
}

// Input is shown and marked as it was typed. Nothing is marked in a text that does not resemble a URI.
func TestProblemMarksTyped(t *testing.T) {
	for _, tt := range []struct {
		typed, input string
		offset       int
		mark, shown  string // "" if nothing is marked
	}{
		{"urn:exäm:a", "urn:ex%C3%A4m:a", 6, "ä", "urn:exäm:a"},
		{"urn:exäm:a", "urn:ex%C3%A4m:a", 9, "ä", "urn:exäm:a"},
		{"urn:exäm:a", "urn:ex%C3%A4m:a", 12, "m", "urn:exäm:a"},
		{"urn:ietf:rfc 1", "urn:ietf:rfc%201", 12, " ", "urn:ietf:rfc 1"},
		{"urn:ä:", "urn:%C3%A4:", 11, "␣", "urn:ä:␣"},
		{"urn:exäm:ab", "urn:ex%C3%A4m:a", 6, "%C3%A4", "urn:ex%C3%A4m:a"},
		{"978-0-395-36341-7", "urn:isbn:978-0-395-36341-7", 25, "7", "urn:isbn:978-0-395-36341-7"},
		{"kalevala", "kalevala", 0, "", "kalevala"},
		{"hello urn:a", "hello urn:a", 5, "", "hello urn:a"},
		{"urn：ietf:a", "urn：ietf:a", 3, "", "urn：ietf:a"},
		{"urn:x", "urn:x", 5, "␣", "urn:x␣"},
	} {
		p := api.Problem{
			Status: http.StatusBadRequest, Typed: tt.typed, Input: tt.input, Offset: &tt.offset,
			Rule: "path", RuleCode: "path",
		}
		page := problem(p)
		elements := content(read(t, page))
		mark, shown := strings.Join(texts(elements, "mark"), ""), strings.Join(texts(elements, "code"), "")
		if mark != tt.mark || shown != tt.shown ||
			(mark == "") != strings.Contains(string(page), "not an identifier that this server supports") {
			t.Errorf("%q as %q at %d: %q in %q", tt.typed, tt.input, tt.offset, mark, shown)
		}
	}
}

// The final punctuation of a reason is kept, and the contact is a link if possible.
func TestWithdrawnPage(t *testing.T) {
	for _, tt := range []struct{ reason, contact, message, asks string }{
		{
			"merged", "mailto:anna@example.org", "</time>: <bdi>merged.</bdi></p>",
			`<p>Contact: <a href="mailto:anna@example.org">anna@example.org</a></p>`,
		},
		{
			"It was retracted.", "https://example.org/ask", "</time>: <bdi>It was retracted.</bdi></p>",
			`<a href="https://example.org/ask">https://example.org/ask</a>`,
		},
		{"Why not?", "Anna <b>", "</time>: <bdi>Why not?</bdi></p>", "<p>Contact: Anna &lt;b&gt;</p>"},
		{"", "javascript:alert(1)", "</time>.</p>", "<p>Contact: javascript:alert(1)</p>"},
		{"", "", "</time>.</p>", ""},
	} {
		p := api.Problem{Status: http.StatusGone, Title: "Gone", Code: "name_gone", Record: &api.Record{
			Status: "withdrawn",
			Since:  "2031-05-01T10:00:00Z", Reason: tt.reason, Contact: tt.contact,
		}}
		page := string(problem(p))
		if !strings.Contains(page, tt.message) || !strings.Contains(page, tt.asks) || strings.Contains(page,
			"..") || tt.contact == "" && strings.Contains(page, "Questions") {
			t.Errorf("%+v: %s", tt, page)
		}
	}
}
