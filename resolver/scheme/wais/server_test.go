package wais_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/wais"
	"github.com/urnd/urnd/uri"
)

func testDial(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
	guard := netguard.New(testserver.Timeout, netip.MustParsePrefix("127.0.0.0/8"))
	return guard.WithCheck(check).DialContext(ctx, network, address)
}

func testLimits() scheme.Limits {
	return scheme.Limits{Timeout: testserver.Timeout, Entries: 1000, Bytes: 1 << 20, Line: 4096}
}

func newHandler() *wais.Handler {
	return wais.New(wais.Config{Dial: testDial, Limits: testLimits(), Records: 10})
}

func request(t testing.TB, u string) scheme.Request {
	t.Helper()
	parsed, err := uri.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Check(); err != nil {
		t.Fatal(err)
	}
	return scheme.Request{Request: httpmessage.Request{
		Method: http.MethodGet, URI: parsed,
		Fields: httpmessage.Fields{},
	}}
}

func listing(t testing.TB, h scheme.Handler, u string) *scheme.Listing {
	t.Helper()
	resource, err := h.Fetch(t.Context(), request(t, u))
	if err != nil {
		t.Fatalf("%s: %v", u, err)
	}
	defer resource.Body.Close()
	if resource.Listing == nil || !resource.RemoteAddr.IsValid() {
		t.Fatalf("%s: %+v is not a listing of a server", u, resource)
	}
	return resource.Listing
}

func document(t testing.TB, h scheme.Handler, u string) (contentType, body string) {
	t.Helper()
	resource, err := h.Fetch(t.Context(), request(t, u))
	if err != nil {
		t.Fatalf("%s: %v", u, err)
	}
	defer resource.Body.Close()
	if resource.Status != http.StatusOK || resource.Listing != nil {
		t.Fatalf("%s: %+v is not a document", u, resource)
	}
	b, err := io.ReadAll(resource.Body)
	if err != nil || int64(len(b)) != resource.ContentLength {
		t.Fatalf("%s: %d bytes of %d: %v", u, len(b), resource.ContentLength, err)
	}
	return resource.Fields.Get("Content-Type"), string(b)
}

func refusal(t testing.TB, h scheme.Handler, u string) *scheme.StatusError {
	t.Helper()
	_, err := h.Fetch(t.Context(), request(t, u))
	var refused *scheme.StatusError
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v is not a refusal", u, err)
	}
	return refused
}

func papers() []string {
	return []string{
		"<paper><title>Acid rain in the mountains</title><author>Jane Doe</author><text>Measurements of rain.\nOn " +
			"two lines.</text><id>doc-48</id></paper>",
		"<paper><title>Snow cover of the valleys</title><text>About snow and rain in " +
			"<b>spring</b>.</text><id>doc-49</id></paper>",
	}
}

// TestYazTest covers the three forms of RFC 1738 section 3.9, and the record syntaxes of yaz-ztest.
func TestYazTest(t *testing.T) {
	server := testserver.StartYazTest(t)
	h, base := newHandler(), "wais://"+server.Addr()
	form := listing(t, h, base+"/Default")
	if form.Search == nil || form.Search.Prefix != base+"/Default?" || len(form.Properties) == 0 ||
		!strings.Contains(form.Properties[0].Value, "YAZ") {
		t.Errorf("the form is %+v", form)
	}
	found := listing(t, h, base+"/Default?computer%20science")
	if found.Kind != scheme.KindResults || len(found.Items) != 10 || found.Incomplete == "" ||
		found.Parent.URI != base+"/Default" {
		t.Fatalf("the result is %+v", found)
	}
	if got, want := found.Items[1].URI, base+"/Default/TEXT/2%3Acomputer%20science"; got != want {
		t.Errorf("the second record is %s, want %s", got, want)
	}
	if got := found.Items[1].Name; got != "How to program a computer" {
		t.Errorf("the second record is %q", got)
	}
	next := found.Next
	if next == nil || next.URI != base+"/Default/LIST/11%3Acomputer%20science" {
		t.Fatalf("after these: %+v", next)
	}
	more := listing(t, h, next.URI)
	if more.URI != next.URI || more.Previous == nil || more.Previous.URI != found.URI ||
		more.Items[0].URI != base+"/Default/TEXT/11%3Acomputer%20science" {
		t.Errorf("the next records are %+v", more)
	}
	pages := 2
	for ; more.Next != nil; pages++ {
		more = listing(t, h, more.Next.URI)
	}
	if last := len(more.Items); pages != 2 || more.Incomplete != "" || last != 7 {
		t.Errorf("%d pages, the last is %+v", pages, more)
	}
	if after := listing(t, h, base+"/Default/LIST/9999%3Acomputer%20science"); len(after.Items) != 0 ||
		after.Previous == nil {
		t.Errorf("after the last: %+v", after)
	}
	for path, want := range map[string][2]string{
		"Default/TEXT/2%3Acomputer%20science":  {"text/plain; charset=utf-8", "$a How to program a computer"},
		"Default/SUTRS/2%3Acomputer%20science": {"text/plain; charset=utf-8", "This is dummy SUTRS record number 2"},
		"Default/USMARC/1%3Acomputer":          {"application/marc", "00366nam"},
		"Default/xml/1%3Acomputer":             {"application/xml", "<record xmlns="},
		"Default/OPAC/1%3Acomputer":            {"text/plain; charset=utf-8", "245 10 $a How to program a computer\n"},
	} {
		contentType, body := document(t, h, base+"/"+path)
		if contentType != want[0] || !strings.Contains(body, want[1]) {
			t.Errorf("%s is %s: %q", path, contentType, body)
		}
	}
	if _, body := document(t, h, base+"/Default/OPAC/1%3Acomputer"); !strings.Contains(body, "Copy: Main or Science") {
		t.Errorf("no copies: %q", body)
	}
	if r := refusal(t, h, base+"/nosuch?x"); r.Status != http.StatusNotFound || !strings.Contains(r.Reply, "nosuch") {
		t.Errorf("an unknown database: %+v", r)
	}
	if r := refusal(t, h, base+"/Default/TEXT/9999%3Acomputer"); r.Status != http.StatusNotFound {
		t.Errorf("a record after the last: %+v", r)
	}
}

// TestZebra covers searches by words, phrases and Prefix Query Format, document identifiers, and GRS-1.
func TestZebra(t *testing.T) {
	server := testserver.StartZebra(t, papers()...)
	h, base := newHandler(), "wais://"+server.Addr()
	for search, want := range map[string]int{
		"rain": 2, "rain%20snow": 1, "%22acid%20rain%22": 1, "%22rain%20acid%22": 0, "nothing": 0,
		"@or%20acid%20spring": 2, "@not%20rain%20acid": 1, "@attr%201=4%20snow": 1,
	} {
		if got := listing(t, h, base+"/Default?"+search); len(got.Items) != want || got.Incomplete != "" {
			t.Errorf("%s: %d records, want %d: %+v", search, len(got.Items), want, got)
		}
	}
	if got := listing(t, h, base+"/Default?acid").Items[0]; got.Name != "Acid rain in the mountains" {
		t.Errorf("a record is %+v", got)
	}
	for path, want := range map[string]string{
		"wais:/Default/GRS-1/1%3Asnow":                "title: Snow cover",
		"wais:/Default/XML/1%3Asnow":                  "<b>spring</b>",
		"wais:/Default/TEXT/doc-48":                   "Acid rain in the mountains",
		"z39.50r:/Default?doc-49":                     "Snow cover",
		"z39.50s:/Default?doc-49;rs=xml":              "<title>Snow cover",
		"z39.50r:/Default?doc-48;esn=F;rs=usmarc+xml": "Acid rain",
	} {
		name, rest, _ := strings.Cut(path, ":")
		if _, body := document(t, h, name+"://"+server.Addr()+rest); !strings.Contains(body, want) {
			t.Errorf("%s is %q", path, body)
		}
	}
	for path, status := range map[string]int{
		"wais:/Default?@attr%201=9999%20x": http.StatusNotImplemented,
		"wais:/Default?@and%20x":           http.StatusBadRequest,
		"wais:/Default/PDF/1%3Arain":       http.StatusNotImplemented,
		"wais:/none?x":                     http.StatusNotFound,
		"z39.50r:/Default?doc-50":          http.StatusNotFound,
	} {
		name, rest, _ := strings.Cut(path, ":")
		if r := refusal(t, h, name+"://"+server.Addr()+rest); r.Status != status {
			t.Errorf("%s: %+v, want %d", path, r, status)
		}
	}
	several := listing(t, h, "z39.50s://"+server.Addr()+"/Default+b%2Fc")
	if several.Search != nil || len(several.Items) != 2 || several.Items[1].URI != base+"/b%2Fc" {
		t.Errorf("several databases: %+v", several)
	}
	if server := listing(t, h, "z39.50s://"+server.Addr()); server.Search != nil || len(server.Notes) != 1 {
		t.Errorf("no database: %+v", server)
	}
}

// TestForm requires that the submission of an HTML form redirects to a search.
func TestForm(t *testing.T) {
	for search, want := range map[string]string{
		"search=acid+rain":         "wais://h:2100/d%2Fb?acid%20rain",
		"search=%22a%26b%22&x=y":   "wais://h:2100/d%2Fb?%22a%26b%22",
		"search=":                  "wais://h:2100/d%2Fb",
		"search=%C3%A9%0D%0AX%3Ay": "wais://h:2100/d%2Fb?%C3%A9%0D%0AX%3Ay",
	} {
		resource, err := newHandler().Fetch(t.Context(), request(t, "wais://H:2100/d%2fb?"+search))
		if err != nil {
			t.Fatal(err)
		}
		if resource.Status != http.StatusSeeOther || resource.Fields.Get("Location") != want {
			t.Errorf("%s leads to %d %s, want %s", search, resource.Status, resource.Fields.Get("Location"), want)
		}
	}
}

// TestConditions covers RFC 9110 sections 13.1.2 and 14.2, and HEAD.
func TestConditions(t *testing.T) {
	server := testserver.StartYazTest(t)
	r := request(t, "wais://"+server.Addr()+"/Default/TEXT/2%3Acomputer")
	h := newHandler()
	fetch := func(method, name, value string) (*scheme.Resource, string) {
		r := r
		r.Method, r.Fields = method, httpmessage.NewFields(name, value)
		resource, err := h.Fetch(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resource.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resource, string(body)
	}
	whole, text := fetch(http.MethodGet, "Accept", "*/*")
	size := strconv.Itoa(len(text))
	if part, body := fetch(http.MethodGet, "Range", "bytes=5-6"); part.Status != http.StatusPartialContent ||
		body != text[5:7] || part.Fields.Get("Content-Range") != "bytes 5-6/"+size ||
		part.Fields.Get("Content-Length") != "2" {
		t.Errorf("a part is %d %v %q", part.Status, part.Fields, body)
	}
	if part, body := fetch(http.MethodGet, "Range",
		"bytes=9999-"); part.Status != http.StatusRequestedRangeNotSatisfiable || body != "" ||
		part.Fields.Get("Content-Range") != "bytes */"+size {
		t.Errorf("no part is %d %v %q", part.Status, part.Fields, body)
	}
	if whole.Fields.Get("Content-Length") != size {
		t.Errorf("the whole is %v", whole.Fields)
	}
	if head, body := fetch(http.MethodHead, "Accept", "*/*"); head.ContentLength != int64(len(text)) || body != "" {
		t.Errorf("HEAD is %d %q", head.ContentLength, body)
	}
	if same, body := fetch(http.MethodGet, "If-None-Match",
		whole.Fields.Get("Etag")); same.Status != http.StatusNotModified || body != "" {
		t.Errorf("the same is %d %q", same.Status, body)
	}
}

// TestCheck requires that a denied server is not contacted.
func TestCheck(t *testing.T) {
	server := testserver.StartYazTest(t)
	r := request(t, "wais://"+server.Addr()+"/Default")
	forbidden := errors.New("forbidden")
	r.Check = func(netip.AddrPort) error { return forbidden }
	if _, err := newHandler().Fetch(t.Context(), r); !errors.Is(err, forbidden) {
		t.Errorf("got %v", err)
	}
}
