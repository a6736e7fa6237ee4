package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Fields that Connection names are hop-by-hop, except those intended for all recipients: RFC 9110 section
// 7.6.1.
func TestEndToEnd(t *testing.T) {
	for _, test := range []struct {
		connection []string
		field      string
		stays      bool
	}{
		{nil, "X-A", true},
		{nil, "Keep-Alive", false},
		{[]string{"close"}, "X-A", true},
		{[]string{"keep-alive, Upgrade,TE , http2-settings"}, "Upgrade", false},
		{[]string{"Proxy-Connection", ",, ,", ""}, "Proxy-Connection", false},
		{[]string{"X-A"}, "X-A", false},
		{[]string{"close", " x-a"}, "X-A", false},
		{[]string{"x-b"}, "X-A", true},
		{[]string{"x-a"}, "x-A", false}, // a non-canonical name
		{[]string{`"close"`}, "X-A", true},
		{[]string{"Cache-Control"}, "Cache-Control", true},
		{[]string{"cdn-cache-control"}, "Cdn-Cache-Control", true},
		{[]string{"VARY"}, "Vary", true},
		{[]string{"age,date,expires,pragma"}, "Expires", true},
		{[]string{"set-cookie"}, "Set-Cookie", true},
		{[]string{"etag"}, "Etag", true},
		{[]string{"content-encoding"}, "Content-Encoding", true},
		{[]string{"content-length"}, "Content-Length", true},
		{[]string{"surrogate-control"}, "Surrogate-Control", true},
		{[]string{"cookie"}, "Cookie", true},
		{[]string{"authorization"}, "Authorization", true},
		{[]string{"host"}, "Host", true},
		{[]string{"x-forwarded-for"}, "X-Forwarded-For", true},
		{[]string{"via"}, "Via", true},
		{[]string{"accept-language"}, "Accept-Language", true},
		{[]string{"if-none-match"}, "If-None-Match", true},
	} {
		header := httpmessage.NewFields(test.field, "1")
		for _, line := range test.connection {
			header.Add("Connection", line)
		}
		got := rules.EndToEnd(header)
		if got.Has(test.field) != test.stays || got.Has("Connection") {
			t.Errorf("%q: %v", test.connection, got)
		}
	}
}

// TestRequestFieldsEndToEnd: the table of request fields decides for its fields, even if Connection names them.
func TestRequestFieldsEndToEnd(t *testing.T) {
	for _, f := range httpmessage.RequestFields() {
		name := strings.Replace(f.Name, "*", "Other", 1)
		if got := rules.EndToEnd(httpmessage.NewFields(name, "1")).Has(name); got != (f.Use&httpmessage.HopByHop == 0) {
			t.Errorf("%s: %t", name, got)
		}
		if got := rules.EndToEnd(httpmessage.NewFields("Connection", name, name,
			"1")).Has(name); got != (f.Use&httpmessage.EndToEnd != 0) {
			t.Errorf("%s, which Connection names: %t", name, got)
		}
	}
}

// Names in Connection are looked up in constant time per field. With as many of both as a head can have, a scan
// would take minutes.
func TestEndToEndOfMany(t *testing.T) {
	header := httpmessage.Fields{}
	var names []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf("X-%d", i))
		header.Add(names[i], "")
	}
	header.Add("Connection", strings.Join(names[1:], ","))
	if got := rules.EndToEnd(header); len(got) != 1 {
		t.Errorf("%d fields", len(got))
	}
}

// FuzzEndToEnd: no hop-by-hop field is retained, only those and the fields that Connection names are removed,
// and a second application changes nothing.
func FuzzEndToEnd(f *testing.F) {
	f.Add("close, X-A", "X-A", "Cache-Control")
	f.Add("\x80, ,Cache-Control", "Te", "İ")
	f.Fuzz(func(t *testing.T, connection, one, two string) {
		header := httpmessage.NewFields("Connection", connection, one, "1", two, "2")
		got := rules.EndToEnd(header)
		for _, f := range header {
			isOfHop := len(rules.EndToEnd(httpmessage.Fields{f})) == 0
			if !got.Has(f.Name) && !isOfHop && !strings.Contains(strings.ToLower(connection), strings.ToLower(f.Name)) {
				t.Errorf("%q is removed for %q", f.Name, connection)
			}
		}
		if again := rules.EndToEnd(got); len(again) != len(got) {
			t.Errorf("%v is %v", got, again)
		}
	})
}
