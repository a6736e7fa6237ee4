package proxy_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

func withLocations(uris ...string) func(context.Context, resolver.Query) (resolver.Answer, error) {
	return func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if !q.Service.Locates() {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}
		}
		answer := resolver.Answer{TTL: time.Minute, Cache: resolver.CacheHit}
		for _, u := range uris {
			answer.Locations = append(answer.Locations, resolver.Location{URI: u, From: &resolver.Source{Name: "test"}})
		}
		return answer, nil
	}
}

// RFC 2169 sections 3.2 and 3.6, RFC 2483 sections 4.2, 4.7 and 4.8: Accept decides.
func TestLists(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/?b=1&c=2", "https://b.example/")
	const list = "http://a.example/?b=1&c=2\r\nhttps://b.example/\r\n"
	for _, tt := range []struct{ target, accept, contentType, body string }{
		{"/uri-res/N2Ls?urn:example:a", "*/*", "text/uri-list", "# urn:example:a\r\n" + list},
		{"/uri-res/i2LS?urn:example:a", "text/plain", "text/plain; charset=utf-8", list},
		{"/urn:example:a?s=I2Ls", "text/uri-list", "text/uri-list", "# urn:example:a?s=I2Ls\r\n" + list},
		{"/urn:example:a?s=I2Ls", "image/png", "text/uri-list", "# urn:example:a?s=I2Ls\r\n" + list},
		{"/uri-res/L2Ls?http://a.example/./c", "*/*", "text/uri-list", "# http://a.example/./c\r\nhttp://a.example/c\r\n"},
		{"/uri-res/N2Ns?urn:isbn:0-395-36341-1", "*/*", "text/uri-list", "# urn:isbn:0-395-36341-1\r\nurn:isbn:9780395363416\r\n"},
		{"/uri-res/I2N?urn:isbn:978-0-395-36341-6", "*/*", "text/uri-list", "# urn:isbn:978-0-395-36341-6\r\nurn:isbn:0395363411\r\n"},
		{"/uri-res/N2Ns?urn:isbn:979-12-200-0852-5", "text/plain", "text/plain; charset=utf-8", ""},
		{"/uri-res/L2Ns?http://a.example/", "*/*", "text/uri-list", "# http://a.example/\r\n"},
	} {
		response := s.get(t, tt.target, "Accept: "+tt.accept)
		if body := text(t, response); response.StatusCode != 200 || response.Header.Get("Content-Type") != tt.contentType || body != tt.body ||
			response.Header.Get("Vary") != "Accept" || response.Header.Get("Cache-Control") == "" {
			t.Errorf("%s as %s: %d %v %q", tt.target, tt.accept, response.StatusCode, response.Header, body)
		}
	}
	page := text(t, s.get(t, "/uri-res/N2Ls?urn:example:a", "Accept: text/html"))
	if !strings.Contains(page, `<li><a href="http://a.example/?b=1&amp;c=2">http://a.example/?b=1&amp;c=2</a></li>`) {
		t.Errorf("as a page: %s", page)
	}
	page = text(t, s.get(t, "/uri-res/N2Ns?urn:isbn:0-395-36341-1", "Accept: text/html"))
	if !strings.Contains(page, `<a href="/urn:isbn:9780395363416">urn:isbn:9780395363416</a>`) {
		t.Errorf("names as a page: %s", page)
	}
	if page := text(t, s.get(t, "/uri-res/N2Ns?urn:example:a", "Accept: text/html")); !strings.Contains(page, "None is known") {
		t.Errorf("no names as a page: %s", page)
	}
	if response := s.get(t, "/uri-res/I2N?urn:example:a"); response.StatusCode != 404 {
		t.Errorf("a name without others: %d", response.StatusCode)
	}
	var document struct{ Locations []struct{ URI string } }
	if err := json.Unmarshal([]byte(text(t, s.get(t, "/uri-res/N2Ls?urn:example:a", "Accept: application/json"))), &document); err != nil || len(document.Locations) != 2 {
		t.Errorf("as JSON: %+v, %v", document, err)
	}
}

// What an authority says of a name is added to what urnd knows, and its "no" is the answer:
// RFC 2169 sections 3.5 and 3.6, RFC 3404 section 4.4.
func TestAuthority(t *testing.T) {
	s := start(t, nil)
	of := map[resolver.Service]resolver.Location{
		resolver.I2Ls: {URI: "http://a.example/", From: &resolver.Source{Name: "test"}},
		resolver.I2C:  {URI: "http://a.example/about", From: &resolver.Source{Name: "library", Type: "text/plain", Content: "a <book>\nof 1985"}},
		resolver.I2Ns: {URI: "urn:example:other", From: &resolver.Source{Name: "test"}},
	}
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{TTL: time.Minute, Locations: []resolver.Location{of[q.Service]}}, nil
	}
	if got := text(t, s.get(t, "/uri-res/N2Ns?urn:isbn:0-395-36341-1", "Accept: text/plain")); got != "urn:isbn:9780395363416\r\nurn:example:other\r\n" {
		t.Errorf("names: %q", got)
	}
	if got := text(t, s.get(t, "/uri-res/I2N?urn:example:a", "Accept: text/plain")); got != "urn:example:other\r\n" {
		t.Errorf("a name: %q", got)
	}
	var d struct {
		SubjectOf []struct{ URL, EncodingFormat, Text, Provider string }
	}
	if err := json.Unmarshal([]byte(text(t, s.get(t, "/uri-res/N2C?urn:example:a"))), &d); err != nil || len(d.SubjectOf) != 1 ||
		d.SubjectOf[0].URL != "http://a.example/about" || d.SubjectOf[0].Text != "a <book>\nof 1985" || d.SubjectOf[0].Provider != "library" {
		t.Errorf("description: %+v, %v", d, err)
	}
	if got := text(t, s.get(t, "/uri-res/N2C?urn:example:a", "Accept: text/plain")); !strings.Contains(got, "text: a <book> of 1985\r\n") {
		t.Errorf("as text: %q", got)
	}
	if got := text(t, s.get(t, "/uri-res/N2C?urn:example:a", "Accept: text/html")); !strings.Contains(got, "a &lt;book&gt;") {
		t.Errorf("as a page: %q", got)
	}
	for kind, status := range map[error]int{resolver.ErrNotFound: http.StatusNotFound, resolver.ErrGone: http.StatusGone} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{}, &resolver.Negative{Kind: kind, Reason: "the authority says so"}
		}
		for _, service := range []string{"N2C", "N2Ns", "I2N"} {
			if response := s.get(t, "/uri-res/"+service+"?urn:isbn:0-395-36341-1"); response.StatusCode != status {
				t.Errorf("%s: %d, want %d", service, response.StatusCode, status)
			}
		}
	}
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	if response := s.get(t, "/uri-res/N2Ns?urn:isbn:0-395-36341-1"); response.StatusCode != http.StatusOK || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("names without their authority: %d %s", response.StatusCode, response.Header.Get("Cache-Control"))
	}
	if response := s.get(t, "/uri-res/N2Ns?urn:example:a"); response.StatusCode != http.StatusBadGateway {
		t.Errorf("no names without an authority: %d", response.StatusCode)
	}
}

// The path says which service, whatever the directive of the draft.
func TestServiceOfThePathWins(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/")
	for target, want := range map[string]string{
		"/uri-res/N2C?urn:example:a?s=I2L": "application/ld+json", "/?uri=urn:example:a%3Fs=I2L&service=I2Ls": "text/uri-list", "/urn:example:a?s=I2Ls": "text/uri-list",
	} {
		if response := s.get(t, target, "Accept: */*"); response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s", target, response.StatusCode, response.Header.Get("Content-Type"))
		}
	}
	if response := s.get(t, "/urn:example:a?s=i2ls", "Accept: */*"); response.StatusCode != http.StatusFound {
		t.Errorf("a service in lower case (draft section 2.3): %d", response.StatusCode)
	}
}

// I=I: RFC 2483 section 4.9.
func TestSame(t *testing.T) {
	s := start(t, nil)
	for pair, want := range map[string]string{
		"urn:isbn:0-395-36341-1%20URN:ISBN:0395363411":    "TRUE\r\n",
		"urn:isbn:0-395-36341-1%20urn:isbn:9780395363416": "TRUE\r\n",
		"http://A.example%20http://a.example:80/":         "TRUE\r\n",
		"urn:example:a%20urn:example:A":                   "FALSE\r\n",
		"urn:example:a%20b%20urn:example:a%20b":           "TRUE\r\n",
		"urn:example:a?=q%20http://example.org/a":         "FALSE\r\n",
	} {
		if response := s.get(t, "/uri-res/I=I?"+pair, "Accept: */*"); response.StatusCode != 200 || text(t, response) != want {
			t.Errorf("%s: %d", pair, response.StatusCode)
		}
	}
	var document struct {
		Same, Equivalent bool
		Rung, Reason     string
	}
	body := text(t, s.get(t, "/uri-res/i=i?urn:isbn:0-395-36341-1%20urn:isbn:9780395363416", "Accept: application/json"))
	if err := json.Unmarshal([]byte(body), &document); err != nil || !document.Same || document.Equivalent || document.Rung != "functional" || document.Reason == "" {
		t.Errorf("%s, %v", body, err)
	}
	if response := s.get(t, "/?uri=urn:example:a&service=I=I"); response.StatusCode != 400 {
		t.Errorf("one of two: %d", response.StatusCode)
	}
	for _, bad := range []string{"urn:example:a", "urn:example:a%20b", "urn:isbn:1%20urn:isbn:1", ""} {
		if response := s.get(t, "/uri-res/I=I?"+bad); response.StatusCode != 400 {
			t.Errorf("%q: %d", bad, response.StatusCode)
		}
	}
}

func TestDescription(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/")
	var d struct {
		ID        string `json:"@id"`
		SameAs    []string
		URL       []string
		Namespace string
		Status    string
		Warnings  []struct{ Rule string }
	}
	response := s.get(t, "/uri-res/N2C?URN:ISBN:0-395-36341-1", "Accept: */*")
	if err := json.Unmarshal([]byte(text(t, response)), &d); err != nil || response.Header.Get("Content-Type") != "application/ld+json" ||
		d.ID != "urn:isbn:0395363411" || d.SameAs[0] != "urn:isbn:9780395363416" || d.URL[0] != "http://a.example/" || d.Namespace != "isbn" || d.Status != "located" {
		t.Errorf("%+v, %v", d, err)
	}
	rows, err := csv.NewReader(strings.NewReader(text(t, s.get(t, "/uri-res/I2Cs?urn:x-a:b", "Accept: text/csv")))).ReadAll()
	if err != nil || len(rows) < 4 || rows[0][0] != "property" || rows[1][1] != "urn:x-a:b" || !strings.Contains(rows[len(rows)-1][1], "experimental") {
		t.Errorf("%q, %v", rows, err)
	}
	if page := text(t, s.get(t, "/uri-res/N2C?urn:example:%3Cb%3E", "Accept: text/html")); !strings.Contains(page, `<th>identifier</th><td><a href="/urn:example:%3Cb%3E"><code>urn:example:%3Cb%3E</code></a>`) {
		t.Errorf("%s", page)
	}
	for _, tt := range []struct {
		err    error
		want   string
		status int
	}{
		{&resolver.Negative{Kind: resolver.ErrGone}, "gone", http.StatusGone},
		{&resolver.Negative{Kind: resolver.ErrNotFound}, "unknown", http.StatusNotFound},
		{&resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}, "unknown", http.StatusOK}, // nobody was asked
		{resolver.ErrUnreachable, "unreachable", http.StatusOK},
	} {
		err, want := tt.err, tt.want
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, err }
		response := s.get(t, "/uri-res/N2C?urn:example:a", "Accept: application/json")
		if err := json.Unmarshal([]byte(text(t, response)), &d); err != nil || response.StatusCode != tt.status || d.Status != want {
			t.Errorf("%s: %d %+v, %v", want, response.StatusCode, d, err)
		}
	}
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone}
	}
	if response := s.get(t, "/urn:example:a"); response.StatusCode != http.StatusGone {
		t.Errorf("a name that is gone: %d", response.StatusCode)
	}
}

func TestResources(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/text", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/text", "/other":
			w.Header().Set("Content-Type", "text/x; v=\"1\"")
			w.Header().Set("Set-Cookie", "a=b")
			_, _ = io.WriteString(w, r.URL.Path+" as "+r.Header.Get("Accept"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL+"/missing", origin.URL+"/moved", origin.URL+"/other")
	response := s.get(t, "/uri-res/N2R?urn:example:a", "Accept: text/x")
	if body := text(t, response); response.StatusCode != 200 || body != "/text as text/x" || response.Header.Get("Content-Location") != origin.URL+"/text" ||
		response.Header.Get("Content-Type") != `text/x; v="1"` || !strings.HasPrefix(response.Header.Get("Content-Security-Policy"), "sandbox; default-src 'none'") || response.Header.Get("Set-Cookie") != "" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	response = s.get(t, "/uri-res/I2Rs?urn:example:a", "Accept: text/x")
	kind, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%v, %v", response.Header, err)
	}
	var parts []string
	for in := multipart.NewReader(response.Body, parameters["boundary"]); ; {
		part, err := in.NextPart()
		if err != nil {
			break
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part.Header.Get("Content-Location")+" "+string(body))
	}
	if len(parts) != 2 || parts[1] != origin.URL+"/other /other as text/x" {
		t.Errorf("%q", parts)
	}
	s.next = withLocations(origin.URL+"/missing", origin.URL+"/text")
	if response := s.get(t, "/uri-res/I2Rs?urn:example:a"); response.Header.Get("Content-Location") != origin.URL+"/text" {
		t.Errorf("a single version: %v", response.Header)
	}
	s.next = withLocations(origin.URL+"/missing", origin.URL+"/loop")
	if response := s.get(t, "/uri-res/N2R?urn:example:a"); response.StatusCode != 502 {
		t.Errorf("no version: %d", response.StatusCode)
	}
	if response := s.get(t, "/uri-res/L2R?"+origin.URL+"/text"); response.StatusCode != 200 || !strings.HasPrefix(text(t, response), "/text") {
		t.Errorf("the resource of a URL: %d", response.StatusCode)
	}
	if response := s.get(t, "/uri-res/N2R?urn:example:a", "X-Forwarded-For: 192.0.2.1"); response.StatusCode != 403 {
		t.Errorf("a client outside proxy_clients: %d", response.StatusCode)
	}
}

// Every answer and every refusal has a trace as a representation.
func TestTrace(t *testing.T) {
	s := start(t, nil)
	for target, status := range map[string]int{"/URN:example:a": 200, "/uri-res/N2L?URN:example:a": 200, "/api/v1/explain?uri=URN:example:a": 200, "/URN:isbn:1": 400} {
		if plain := s.get(t, target, "Accept: application/vnd.urnd.trace+json;q=0, */*"); strings.Contains(plain.Header.Get("Content-Type"), "trace") {
			t.Errorf("%s: a trace although Accept excludes it", target)
		}
		response := s.get(t, target, "Accept: application/vnd.urnd.trace+json")
		body := text(t, response)
		if response.StatusCode != status || !strings.Contains(body, "scheme case: URN") {
			t.Errorf("%s: %d %s", target, response.StatusCode, body)
		}
	}
}

// Outgoing requests carry Via, and loops are refused for requests of all forms.
func TestVia(t *testing.T) {
	var via []string
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { via = r.Header.Values("Via") }))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL + "/")
	if response := s.get(t, "/uri-res/I2R?urn:example:a", "Via: 1.1 other"); response.StatusCode != 200 || strings.Join(via, ", ") != "1.1 other, 1.1 urnd" {
		t.Errorf("%d, via %q", response.StatusCode, via)
	}
	loop := "Via: " + strings.Repeat("1.1 urnd, ", 3) + "1.1 urnd"
	for _, target := range []string{"/uri-res/I2R?urn:example:a", "/urn:example:a", "/uri-res/N2L?urn:example:a", origin.URL + "/"} {
		if response := s.get(t, target, loop); response.StatusCode != http.StatusLoopDetected {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
	}
}

func TestAllow(t *testing.T) {
	s := start(t, nil)
	for request, want := range map[string]string{"PUT /api/v1/resolve": "GET, HEAD, POST", "POST /urn:example:a": "GET, HEAD"} {
		response := s.ask(t, request+" HTTP/1.1\r\nHost: a\r\n\r\n")[0]
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != want {
			t.Errorf("%s: %d, %q", request, response.StatusCode, response.Header.Get("Allow"))
		}
	}
}

// A resource that is cut off at its origin does not look complete.
func TestResourceThatBreaksOff(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("half", 1<<12))
		_ = http.NewResponseController(w).Flush()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}))
	defer origin.Close()
	s := start(t, nil)
	for _, tt := range []struct {
		service   string
		locations []string
	}{{"I2R", []string{origin.URL + "/"}}, {"I2Rs", []string{origin.URL + "/a", origin.URL + "/b"}}} {
		s.next = withLocations(tt.locations...)
		response, err := http.Get("http://" + s.addr + "/uri-res/" + tt.service + "?urn:example:a")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err == nil {
			t.Errorf("%s: %d octets that look whole", tt.service, len(body))
		}
	}
}

// RFC 2169 section 3.4: of several resources those are sent that the client accepts.
func TestResourcesByAccept(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/"+strings.TrimPrefix(r.URL.Path, "/"))
	}))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL+"/gif", origin.URL+"/png", origin.URL+"/jpeg")
	for accept, want := range map[string]string{"image/png": "image/png", "image/png, image/gif": "multipart", "*/*": "multipart"} {
		response := s.get(t, "/uri-res/N2Rs?urn:example:a", "Accept: "+accept)
		if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, want) {
			t.Errorf("%s: %s", accept, kind)
		}
	}
	if response := s.get(t, "/uri-res/N2Rs?urn:example:a", "Accept: text/html"); response.StatusCode != http.StatusNotAcceptable {
		t.Errorf("a type that none has: %d", response.StatusCode)
	}
}

// Where all origins say that a resource does not exist, or is gone, so does urnd.
func TestOriginsWithoutTheResource(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.WriteHeader(status)
	}))
	defer origin.Close()
	s := start(t, nil)
	for _, tt := range []struct {
		paths []string
		want  int
	}{
		{[]string{"/404"}, 404},
		{[]string{"/404", "/410"}, 404},
		{[]string{"/410", "/410"}, 410},
		{[]string{"/404", "/500"}, 502},
		{[]string{"/500"}, 502},
	} {
		var locations []string
		for i, path := range tt.paths {
			locations = append(locations, origin.URL+path+"?"+strconv.Itoa(i))
		}
		s.next = withLocations(locations...)
		for _, service := range []string{"N2R", "N2Rs"} {
			if response := s.get(t, "/uri-res/"+service+"?urn:example:a"); response.StatusCode != tt.want {
				t.Errorf("%s with %v: %d, want %d", service, tt.paths, response.StatusCode, tt.want)
			}
		}
	}
}
