package forward_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/scheme"
)

// RFC 9110 section 7.6.1: hop-by-hop fields are not forwarded, in either direction; section 7.6.3: Via is
// added; section 10.1.4: TE: trailers is generated anew.
func TestPassedFields(t *testing.T) {
	via := httpmessage.NewViaName()
	w := newWeb(t, nil, func(c *forward.Config) { c.Via = via })
	hops := []string{
		"Connection", "X-Named", "X-Named", "1", "Keep-Alive", "timeout=5", "Proxy-Authorization",
		"Basic YTpi", "Upgrade", "a/1",
	}
	names := []string{"X-Named", "Keep-Alive", "Proxy-Authorization", "Upgrade", "Proxy"}
	w.answers(200, "ok", append(hops, "Via", "1.0 origin", "Set-Cookie", "a=1", "Set-Cookie", "b=2")...)
	r := requested(t, http.MethodGet, "http://a.example/b",
		append(hops, "Via", "1.0 client", "X-End", "1", "X-End", "2", "Proxy",
			"http://evil.example/", "Te", "gzip, trailers")...)
	client := w.serveIn(message.WithTraceparent(t.Context(), "00-client"), r)
	sent, _ := w.last()
	if got := linesOf(sent.Fields, names...); got != "" {
		t.Errorf("the origin gets %s", got)
	}
	if got := linesOf(sent.Fields, "Via", "X-End", "Te", "Connection",
		"Traceparent"); got != "Via=1.0 client Via="+via.String()+
		" X-End=1 X-End=2 Te=trailers Connection=TE Traceparent=00-client" {
		t.Errorf("the origin gets %s", got)
	}
	got := client.Fields
	if linesOf(got, names...) != "" ||
		linesOf(got, "Via", "Set-Cookie") != "Via=1.0 origin Via="+via.String()+" Set-Cookie=a=1 Set-Cookie=b=2" {
		t.Errorf("the client gets %v", client.Fields)
	}
	if client.err != nil || client.Status != 200 || client.Body.String() != "ok" || client.Reason != "Words" ||
		client.server != origin || client.cached != "bypass" {
		t.Errorf("%+v", client)
	}
	if client.Fields.Has("Content-Type") {
		t.Error("the client gets a type that the origin did not send")
	}
	if len(w.slots) != 0 {
		t.Errorf("%d fetches are under way", len(w.slots))
	}
}

// Servers of other protocols get the fields that they can use: the client's password is meant for them, and
// Via and the rest are omitted.
func TestFieldsForOtherProtocols(t *testing.T) {
	w := newWeb(t, nil, nil)
	for _, fetched := range []bool{false, true} {
		r := requested(t, http.MethodGet, "ftp://a.example/b", "Accept", "text/x", "Authorization", "secret", "Cookie",
			"a=b", "Range", "bytes=0-",
			"Referer", "http://b.example/")
		r.Fetched, r.Sort = fetched, "name"
		if client := w.serve(t, r); client.err != nil || client.Status != 200 {
			t.Errorf("%+v", client)
		}
		want := `Range=bytes=0- Accept=listing of "text/x", fetched false, by "name" Authorization=secret`
		if fetched { // it would be meant for this server
			want = `Range=bytes=0- Accept=listing of "text/x", fetched true, by "name"`
		}
		if sent, _ := w.last(); linesOf(sent.Fields, "Range", "Accept", "Authorization", "Cookie", "Referer",
			"Via") != want {
			t.Errorf("fetched %t: %v", fetched, sent.Fields)
		}
	}
}

// The fields that identify a client to origins, and its scheme and host to servers of sites: RFC 7239
// sections 4 to 6 and 8.1. Fields of a trusted proxy are generated anew; those of others about scheme and
// host are not forwarded to servers of sites.
func TestForwardedFields(t *testing.T) {
	const (
		transparent, off, standard, forwardedFor, nothing = forward.ForwardedTransparent, forward.ForwardedOff,
			forward.ForwardedStandard,
			forward.ForwardedFor, forward.ForwardedNothing

		https  = "X-Forwarded-Proto=https X-Forwarded-Host=www.example:444 X-Forwarded-Port=444"
		client = "192.0.2.1"
		both   = "Forwarded: for=203.0.113.9;host=evil.example|X-Forwarded-For: 203.0.113.9|X-Real-Ip: " +
			"203.0.113.9|X-Forwarded-Host: evil.example"
	)
	for _, tt := range []struct {
		mode          forward.Forwarded
		site, trusted bool
		client        string
		sent          string
		want          string
	}{
		{
			transparent, false, false, client, both,
			"Forwarded=for=203.0.113.9;host=evil.example X-Forwarded-For=203.0.113.9 X-Real-Ip=203.0.113.9 " +
				"X-Forwarded-Host=evil.example",
		},
		{
			transparent, false, true, client, both,
			"Forwarded=for=192.0.2.1 X-Forwarded-For=192.0.2.1 X-Real-Ip=192.0.2.1",
		},
		{transparent, false, true, "", both, "Forwarded=for=unknown"},
		{transparent, true, false, client, both, "X-Forwarded-For=203.0.113.9 X-Real-Ip=203.0.113.9 " + https},
		{
			transparent, true, true, client, both,
			`Forwarded=for=192.0.2.1;host="www.example:444";proto=https X-Forwarded-For=192.0.2.1 X-Real-Ip=192.0.2.1 ` + https,
		},
		{transparent, true, false, client, "", https},
		{off, false, false, client, both, "X-Forwarded-Host=evil.example"},
		{off, true, true, client, both, https},
		{standard, false, false, client, "", "Forwarded=for=192.0.2.1"},
		{
			standard, false, false, client, "Forwarded: for=203.0.113.9",
			"Forwarded=for=203.0.113.9 Forwarded=for=192.0.2.1",
		},
		{standard, false, false, "2001:db8::1%eth0", "", `Forwarded=for="[2001:db8::1]"`},
		{standard, false, false, "", "", "Forwarded=for=unknown"},
		{
			standard, true, false, client, both,
			`Forwarded=for=192.0.2.1;host="www.example:444";proto=https X-Forwarded-For=203.0.113.9 X-Real-Ip=203.0.113.9 ` + https,
		},
		{
			forwardedFor, false, false, client, "X-Forwarded-For: 203.0.113.9",
			"X-Forwarded-For=203.0.113.9 X-Forwarded-For=192.0.2.1",
		},
		{forwardedFor, false, false, "", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-For=203.0.113.9"},
		{forwardedFor, true, true, client, both, "X-Forwarded-For=192.0.2.1 " + https},
		{
			forwardedFor, true, false, client, "X-Forwarded-For: 203.0.113.9|X-Forwarded-Port: 1",
			"X-Forwarded-For=203.0.113.9 X-Forwarded-For=192.0.2.1 " + https,
		},
		{
			standard, true, false, client, "Forwarded: for=203.0.113.9;proto=http;host=evil",
			`Forwarded=for=192.0.2.1;host="www.example:444";proto=https ` + https,
		},
		{transparent, true, true, client, "", https},
		{nothing, true, true, client, both, ""},
		{nothing, true, false, client, both, ""},
	} {
		w := newWeb(t, nil, func(c *forward.Config) { c.Forwarded = tt.mode })
		var fields []string
		for line := range strings.SplitSeq(tt.sent, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				fields = append(fields, name, value)
			}
		}
		r := requested(t, http.MethodGet, "https://www.example:444/", fields...)
		r.Trusted = tt.trusted
		if tt.client != "" {
			r.Client = netip.MustParseAddr(tt.client)
		}
		if tt.site {
			r.Site = &forward.Site{Pool: pool(t, "http://192.0.2.7:8080"), Forwarded: tt.mode}
		}
		if client := w.serve(t, r); client.err != nil {
			t.Fatal(client.err)
		}
		sent, _ := w.last()
		if got := linesOf(sent.Fields, "Forwarded", "X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Proto",
			"X-Forwarded-Host", "X-Forwarded-Port"); got != tt.want {
			t.Errorf("%+v:\n%s, want\n%s", tt, got, tt.want)
		}
	}
}

// Sites get no field that CGI would take for another one: RFC 3875 section 4.1.18, CVE-2016-5385. Proxy is
// never forwarded.
func TestOddFields(t *testing.T) {
	odd := []string{
		"X_A", "X.A", "X~A", "X|A", "X'A", "X!A", "X#A", "X$A", "X%A", "X&A", "X*A", "X+A", "X^A", "X`A",
		"_", "Script_Name", "Content_Length",
	}
	for name, tt := range map[string]struct {
		underscores, forwards bool
		want                  []string
	}{
		"a site":                  {false, false, nil},
		"a site with underscores": {true, false, []string{"X_A", "_", "Script_Name", "Content_Length"}},
		"a server of the proxy":   {false, true, odd},
	} {
		w := newWeb(t, nil, func(c *forward.Config) { c.Underscores = tt.underscores })
		for _, also := range [][]string{nil, {"Connection", "Upgrade", "Upgrade", "a"}} {
			r := requested(t, http.MethodGet, "http://www.example/",
				append(slices.Clone(also), "X-A", "1", "Proxy", "http://evil.example/")...)
			for _, name := range odd {
				r.Fields.Add(name, "1")
			}
			if !tt.forwards {
				r.Site = &forward.Site{Pool: pool(t, "http://192.0.2.7")}
			}
			if client := w.serve(t, r); client.err != nil {
				t.Fatal(client.err)
			}
			sent, _ := w.last()
			var got []string
			for _, name := range append(odd, "Proxy") {
				if sent.Fields.Has(name) {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, tt.want) || sent.Fields.Get("X-A") != "1" {
				t.Errorf("%s, %q: %q, want %q", name, also, got, tt.want)
			}
		}
	}
}

// A client or server cannot remove a field that a site sets by naming it in Connection (RFC 9110 section 7.6.1).
func TestSetFieldsInConnection(t *testing.T) {
	w := newWeb(t, nil, nil)
	for _, tt := range []struct{ connection, want string }{
		{"X-Set,X-Hop", "X-Set=1"},
		{"close, x-set\t, X-Hop", "X-Set=1"},
		{"Upgrade, X-Hop, X-Set", "X-Set=1 Upgrade=a Connection=Upgrade"},
	} {
		w.answers(200, "ok", "Connection", tt.connection, "X-Hop", "1", "X-Set", "2")
		edits := forward.Edits{Set: httpmessage.NewFields("X-Set", "1")}
		r := requested(t, http.MethodGet, "http://www.example/", "Connection", tt.connection, "X-Hop", "1", "X-Set", "2",
			"Upgrade", "a")
		r.Site = &forward.Site{Pool: pool(t, "http://192.0.2.7"), Request: edits, Response: edits}
		client := w.serve(t, r)
		sent, _ := w.last()
		if got := linesOf(sent.Fields, "X-Hop", "X-Set", "Upgrade", "Connection"); client.err != nil || got != tt.want {
			t.Errorf("%s: the server gets %s, %v", tt.connection, got, client.err)
		}
		if got := linesOf(client.Fields, "X-Set"); got != "X-Set=1" {
			t.Errorf("%s: the client gets %q", tt.connection, got)
		}
	}
}

// A field that a site removes from responses, or sets, does not reach clients in interim responses and trailers.
func TestEditedFieldsOutsideHeader(t *testing.T) {
	edits := forward.Edits{Remove: []string{"x-removed"}, Set: httpmessage.NewFields("X-Set", "1")}
	for _, site := range []*forward.Site{
		{Pool: pool(t, "http://192.0.2.7")},
		{Pool: pool(t, "http://192.0.2.7"), Response: edits},
	} {
		w := newWeb(t, nil, nil)
		w.answer = func(r scheme.Request) (*scheme.Resource, error) {
			received := httpmessage.NewFields("X-Removed", "2", "X-Set", "2", "X-Other", "2")
			r.Interim.Interim(103, received)
			resource := respond(200, "ok", "Cache-Control", "no-store")
			trailer := &httpmessage.Trailer{Names: []string{"X-Removed", "X-Set", "X-Other"}}
			resource.ContentLength, resource.Trailer = -1, trailer
			resource.Body = httpmessage.AtEnd(resource.Body, func() { trailer.Fields = received })
			return resource, nil
		}
		r := requested(t, http.MethodGet, "http://www.example/")
		r.Site = site
		client := w.serve(t, r)
		if client.err != nil || len(client.Interim) != 1 || client.Body.String() != "ok" {
			t.Fatalf("%+v", client)
		}
		want, names := "X-Removed=2 X-Set=2 X-Other=2", "X-Removed, X-Set, X-Other"
		if len(site.Response.Set) > 0 {
			want, names = "X-Other=2", "X-Other"
		}
		for part, fields := range map[string]httpmessage.Fields{
			"interim response": client.Interim[0].Fields, "trailer": client.Trailer,
		} {
			if got := linesOf(fields, "X-Removed", "X-Set", "X-Other"); got != want {
				t.Errorf("%s: %q, want %q", part, got, want)
			}
		}
		if got := client.Fields.List("Trailer"); got != names {
			t.Errorf("announced are %q, want %q", got, names)
		}
	}
}
