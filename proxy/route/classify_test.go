package route_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// places are the places that heads.txt names.
func places(t testing.TB) map[string]route.Endpoint {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	server := &route.Server{
		OwnHosts: route.NewOwnHosts("urnd.example"), Names: resolver.Names{Set: set, Accept: uri.CurrentURN},
		Sites: route.NewSites([]route.Site{
			{Host: "www.example.org"},
			{Host: "exact.example.org", Spelling: route.SpellingExact},
		}),
		Documents:    map[string]bool{"/robots.txt": true, route.PathOpenAPI: true},
		OwnDocuments: map[string]bool{"/opensearch.xml": true},
	}
	exact, respelled, secured, hosts := *server, *server, *server, *server
	exact.Spelling, respelled.Spelling = route.SpellingExact, route.SpellingRedirect
	secured.RedirectTLS, secured.TLSPort = true, "8443"
	hosts.OwnHosts = route.NewOwnHosts("urnd.example", "purl.example")
	hosts.Hosts = route.NewHosts([]string{"PURL.example."})
	hosts.Names = hosts.Names.WithOwnedPrefixes([]string{"urn:", "https://purl.example/", "ark:/12345/"})
	handles := *server
	handles.Names = handles.Names.WithOwnedPrefixes([]string{"urn:example:", "doi:10.5555/", "hdl:"})
	handles.Handles = route.Handles{
		{Prefix: "20.500.1", Names: "urn:example:"},
		{Prefix: "10.5555", Names: "doi:10.5555/"},
		{Prefix: "20.ABC", Names: "hdl:20.abc/"},
		{Prefix: "20.lost", Names: "ark:/12345/"},
	}
	listing := hosts
	listing.HasNameList, listing.HasSitemap = true, true
	hostsTLS, public, below := hosts, *server, *server
	public.PublicURL, below.PublicURL = "https://public.example:8443", "https://public.example/names"
	hostsTLS.RedirectTLS = true
	const local = "192.0.2.1:8080"
	return map[string]route.Endpoint{
		"plain":     {Server: server, LocalAddr: local},
		"socket":    {Server: server},
		"tls":       {Server: server, LocalAddr: "192.0.2.1:443", Secure: true, ServerName: "urnd.example"},
		"unnamed":   {Server: server, LocalAddr: "192.0.2.1:443", Secure: true},
		"machine":   {Server: server, LocalAddr: "127.0.0.1:8080", LocalClient: true},
		"proxied":   {Server: server, LocalAddr: "192.0.2.1:8080", MayProxy: true},
		"front":     {Server: server, LocalAddr: local, BehindProxy: true, Scheme: "https"},
		"exact":     {Server: &exact, LocalAddr: local},
		"respelled": {Server: &respelled, LocalAddr: local},
		"secured":   {Server: &secured, LocalAddr: local},
		"hosts":     {Server: &hosts, LocalAddr: local},
		"hostsown":  {Server: &hosts, LocalAddr: "127.0.0.1:8080", LocalClient: true, MayProxy: true},
		"hoststls":  {Server: &hostsTLS, LocalAddr: local},
		"handles":   {Server: &handles, LocalAddr: local},
		"listing":   {Server: &listing, LocalAddr: local},
		"public":    {Server: &public, LocalAddr: local},
		"below":     {Server: &below, LocalAddr: local},
		"securedby": {Server: &secured, LocalAddr: local, BehindProxy: true},
	}
}

// parseHead parses a line into a request: a place, a version, a method, a target, a host, and fields.
func parseHead(t testing.TB, head string) (place string, v route.RequestHead) {
	t.Helper()
	words := strings.Fields(head)
	if len(words) < 5 {
		t.Fatalf("%q has too few words", head)
	}
	fields := make(map[string][]string)
	for _, field := range words[5:] {
		name, value, _ := strings.Cut(field, ":")
		fields[name] = append(fields[name], value)
	}
	v = route.RequestHead{
		HTTP2: words[1] == "2", Method: words[2], Target: words[3],
		Header: func(name string) []string { return fields[name] },
	}
	if v.Host = words[4]; v.Host == "-" {
		v.Host = ""
	}
	return words[0], v
}

// describe returns the non-zero fields of a Request as text.
func describe(a *route.Request) string {
	words := []string{a.Kind.String(), a.Form}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+value)
		}
	}
	if a.Kind != route.KindSite && a.Kind != route.KindTunnel && (a.Kind != route.KindPurge || a.Site == nil) {
		add("service", a.Service().String())
		add("uri", a.Target.Query.URI.String())
	}
	if a.Kind == route.KindTunnel && a.Err == nil {
		add("to", fmt.Sprintf("%s/%d", a.Authority.Host, a.Authority.Port))
	}
	add("key", a.Key.String())
	if sent := a.URI; sent.IsValid() && a.OutgoingURI() != a.Key {
		add("sent", a.OutgoingURI().String())
	}
	add("spelling", a.Spelling)
	if a.Site != nil {
		add("site", fmt.Sprint(a.Site.Index))
	}
	if inflection := a.Target.Inflection; inflection != route.NoInflection {
		add("inflection", map[route.Inflection]string{
			route.InflectionBrief: "brief",
			route.InflectionFull:  "full",
		}[inflection])
	}
	if preview := a.Target.Preview; preview != route.NoPreview {
		add("preview", map[route.Preview]string{route.PreviewName: "yes", route.PreviewIfUnknown: "perhaps"}[preview])
	}
	add("scheme", a.Scheme)
	add("location", a.Location)
	if n := a.Target.Namespaces; n != nil {
		add("nid", n.NID)
		add("search", n.Search)
		add("after", n.After)
	}
	if n := a.Target.Names; n != nil {
		s := n.Search
		for _, field := range [][2]string{
			{"prefix", s.Prefix},
			{"words", s.Words},
			{"host", s.Host},
			{"tag", s.Tag},
			{"status", s.Status},
			{"after", s.After},
		} {
			add(field[0], field[1])
		}
		if n.Err != nil {
			add("fault", n.Err.Error())
		}
	}
	if s := a.Target.Sitemap; s != nil {
		add("file", s.File)
	}
	for _, flag := range []struct {
		name string
		is   bool
	}{
		{"retrieves", a.Retrieves},
		{"public", a.Public},
		{"preflight", a.IsPreflight},
		{"respelled", a.RedirectsToNormal},
		{"misnamed", a.UnknownHost},
		{"identified", a.Target.Identified},
		{"invalid", a.Err != nil},
	} {
		if flag.is {
			words = append(words, flag.name)
		}
	}
	return strings.Join(words, " ")
}

// testdata/heads.txt has a request in each line, and its classification.
func TestClassify(t *testing.T) {
	text, err := os.ReadFile("testdata/heads.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := places(t)
	for n, line := range strings.Split(string(text), "\n") {
		head, want, ok := strings.Cut(line, " => ")
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, view := parseHead(t, head)
		place, known := all[name]
		if !ok || !known {
			t.Fatalf("heads.txt:%d is not a head", n+1)
		}
		var ask, again route.Request
		route.Classify(&ask, &view, &place)
		if got := describe(&ask); got != want {
			t.Errorf("heads.txt:%d\n%s => %s\nwant %s", n+1, strings.TrimSpace(head), got, want)
		}
		// The place caches its hosts, and strings may refer to reused memory.
		view.Scratch = new(route.Scratch)
		route.Classify(&again, &view, &place)
		if got := describe(&again); got != want {
			t.Errorf("heads.txt:%d, again\n%s => %s\nwant %s", n+1, strings.TrimSpace(head), got, want)
		}
	}
}

// A cloned Request is equal after the memory of the request was reused, and shares none of it.
func TestLast(t *testing.T) {
	text, err := os.ReadFile("testdata/heads.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := places(t)
	lasted := 0
	for n, line := range strings.Split(string(text), "\n") {
		head, _, ok := strings.Cut(line, " => ")
		if !ok || line[0] == '#' {
			continue
		}
		name, view := parseHead(t, head)
		place := all[name]
		var want, got route.Request
		route.Classify(&want, &view, &place)
		if want.Err != nil {
			continue
		}
		memory := make([]byte, 0, 4<<10)
		for _, s := range []*string{&view.Method, &view.Target, &view.Host} {
			start := len(memory)
			memory = append(memory, *s...)
			*s = unsafe.String(unsafe.SliceData(memory[start:]), len(*s))
		}
		place, view.Scratch = all[name], new(route.Scratch)
		route.Classify(&got, &view, &place)
		got.Clone(strings.Clone)
		clear(memory)
		other := route.RequestHead{
			Method: "GET", Target: "http://another.example/%41/%42/%43", Host: "another.example",
			Header: view.Header, Scratch: view.Scratch,
		}
		for _, target := range []string{"http://another.example/%41/%42/%43" + strings.Repeat("/x", 100), "/%41%42"} {
			other.Target = target
			route.Classify(new(route.Request), &other, &place)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("heads.txt:%d\n%+v\n%+v", n+1, got, want)
		}
		lasted++
	}
	if lasted == 0 {
		t.Error("there is none")
	}
}

// Classification with reused memory allocates only for parsed values.
func TestClassifyAllocations(t *testing.T) {
	for name, most := range map[string]float64{
		"plain 1.1 GET /urn:ietf:rfc:2648 urnd.example":               1,
		"plain 1.1 GET http://a.example/b?c a.example":                1,
		"plain 1.1 GET /a/b?c www.example.org":                        1,
		"machine 1.1 GET /uri-res/N2L?urn:ietf:rfc:2648 urnd.example": 1,
	} {
		of, view := parseHead(t, name)
		view.Scratch = new(route.Scratch)
		place := places(t)[of]
		var ask route.Request
		if n := testing.AllocsPerRun(100, func() { route.Classify(&ask, &view, &place) }); n > most {
			t.Errorf("%s: %v allocations, want %v", name, n, most)
		}
	}
}
