package http1_test

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// stricter maps the reason of each error of ParseRequest for requests that http.ReadRequest accepts to its
// justification. Apart from these, those of lenient and what compare ignores, both parsers agree.
func stricter() map[string]string {
	const server = "the server of net/http refuses it, too, behind ReadRequest"
	return map[string]string{
		"a field name is not a token":           server,
		"malformed Host":                        server,
		"missing required Host":                 server,
		"this version of HTTP is not supported": server,

		"a field value has a control character":                   server,
		"there is white space between a field name and its colon": server,
		"only the expectation 100-continue is supported":          server,

		"a line ends with LF alone":      "RFC 9112 section 2.2 allows it, but not all recipients read it so",
		"a line begins with white space": "RFC 9112 section 5.2: recipients differ in what a fold means",

		"both Transfer-Encoding and Content-Length are sent":  "RFC 9112 section 6.1: it may be request smuggling",
		"Transfer-Encoding is not allowed in HTTP/1.0":        "RFC 9112 section 6.1: net/http ignores the field",
		"Content-Length is duplicated":                        "RFC 9112 section 6.3: to net/http equal ones are one",
		"Content-Length is not a number of at most 15 digits": "recipients with numbers of 53 bits round greater ones",

		"the name of a framing field has _ in place of -":                    "recipients by CGI take the two for one",
		"the authority of the request-target is invalid":                     "net/url lets a host have < and >",
		"the request-target is empty, or has a space or a control character": "net/http lets that of CONNECT be empty",
	}
}

// lenient returns why ParseRequest accepts a request that http.ReadRequest rejects; "" if there is no
// justification.
func lenient(r *httpmessage.Incoming) string {
	target := r.Target
	if r.Method == http.MethodConnect && target[0] != '/' {
		target = "http://" + target
	}
	if _, err := url.ParseRequestURI(target); err != nil {
		return "stray percent signs, ports and addresses in targets are the affair of who knows what targets name"
	}
	if r.Trailer != nil {
		return "a name in Trailer that may not be in a trailer section is ignored: RFC 9110 section 6.6.2"
	}
	return ""
}

// compare returns the first difference between a request and the result of net/http, or "".
func compare(r *httpmessage.Incoming, other *http.Request) string {
	got, want := map[string][]string{}, map[string][]string(other.Header.Clone())
	for _, f := range r.Fields {
		got[f.Canonical()] = append(got[f.Canonical()], f.Value)
	}
	delete(want, "Host")
	delete(want, "Trailer") // net/http keeps Trailer if the body is not chunked
	if r.Fields.Has("Pragma") && !r.Fields.Has("Cache-Control") {
		delete(want, "Cache-Control") // net/http derives Cache-Control from Pragma
	}
	switch {
	case r.Method != other.Method || r.Target != other.RequestURI:
		return "the request line"
	case r.Minor != min(other.ProtoMinor, 1): // RFC 9110 section 2.5
		return "the version"
	case r.Host != other.Host && !strings.Contains(r.Target, "%"): // net/url percent-decodes the host
		return "the host"
	case r.ContentLength != other.ContentLength || (r.ContentLength < 0) != (len(other.TransferEncoding) > 0):
		return "the framing"
	case r.Close != other.Close:
		return "persistence"
	case !maps.EqualFunc(got, want, slices.Equal):
		return fmt.Sprintf("the fields %q, %q", got, want)
	default:
		return ""
	}
}

// FuzzRequest checks that net/http parses a request identically, except for justified differences, and that
// data after the request does not change the result.
func FuzzRequest(f *testing.F) {
	for v := range vectors(f, "testdata/requests.txt") {
		f.Add(v.text)
	}
	f.Add(browser)
	f.Add(curl)
	known := stricter()
	f.Fuzz(func(t *testing.T, text string) {
		var r httpmessage.Incoming
		n, err := http1.ParseRequest([]byte(text), &r, 1<<20)
		in := bufio.NewReaderSize(strings.NewReader(text), len(text)+16)
		other, otherErr := http.ReadRequest(in)
		var failed *http1.Error
		switch {
		case errors.As(err, &failed):
			if otherErr == nil && known[failed.Reason] == "" {
				t.Fatalf("%q: %v, and net/http reads it", text, err)
			}
		case err != nil:
			t.Fatalf("%q: %v", text, err)
		case n == 0:
			if otherErr == nil {
				t.Fatalf("%q: net/http reads it, and it is not complete", text)
			}
		case otherErr != nil:
			if lenient(&r) == "" {
				t.Fatalf("%q: net/http has %v", text, otherErr)
			}
		default:
			if difference := compare(&r, other); difference != "" || in.Buffered() != len(text)-n {
				t.Fatalf("%q: %s; net/http reads %d bytes, and not %d", text, difference, len(text)-in.Buffered(), n)
			}
		}
		whole := parsed(text)
		for i := n; i <= len(text) && i < n+4; i++ {
			if got, _, _ := strings.Cut(parsed(text[:i]), " rest="); n > 0 && !strings.HasPrefix(whole, got) {
				t.Fatalf("%q: %s, and cut at %d %s", text, whole, i, got)
			}
		}
	})
}
