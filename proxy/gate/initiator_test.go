package gate_test

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// The initiator by each field alone, and the precedence of fields: Fetch Metadata section 2, Origin, Referer,
// those that browsers send.
func TestInitiatorOf(t *testing.T) {
	const mozilla, page = "Mozilla/5.0", "text/html,*/*;q=0.8"
	for _, tt := range []struct {
		fields map[string]string
		want   gate.Initiator
	}{
		{nil, gate.InitiatorProgram},
		{map[string]string{"User-Agent": "Wget/1.25", "Accept": "*/*"}, gate.InitiatorProgram},
		{map[string]string{"User-Agent": "Lynx/2.9.0", "Accept": page}, gate.InitiatorProgram},
		{
			map[string]string{"User-Agent": "Lynx/2.9.0", "Accept": page, "Referer": "http://b/"},
			gate.InitiatorCrossSiteNavigation,
		},
		{map[string]string{"User-Agent": mozilla}, gate.InitiatorUnknown},
		{map[string]string{"Accept": page}, gate.InitiatorUnknown},
		{map[string]string{"Referer": "http://a:81/b"}, gate.InitiatorOwnPage},
		{map[string]string{"Referer": "https://A:81/b"}, gate.InitiatorOwnPage},
		{map[string]string{"Referer": "http://a/b"}, gate.InitiatorCrossSiteSubresource},
		{map[string]string{"Referer": "http://u@a:81/b"}, gate.InitiatorOwnPage}, // browsers send no userinfo
		{map[string]string{"Referer": "http://a:81@b/"}, gate.InitiatorCrossSiteSubresource},
		{map[string]string{"Referer": "http://a:81.b/"}, gate.InitiatorCrossSiteSubresource},
		{map[string]string{"Referer": "//a:81/"}, gate.InitiatorOwnPage}, // browsers always send a scheme
		{map[string]string{"Referer": "a:81"}, gate.InitiatorCrossSiteSubresource},
		{map[string]string{"Referer": "%"}, gate.InitiatorCrossSiteSubresource},
		{map[string]string{"Referer": "about:blank", "Accept": page}, gate.InitiatorCrossSiteNavigation},
		{map[string]string{"Origin": "null", "Accept": page}, gate.InitiatorCrossSiteSubresource},
		{
			map[string]string{"Origin": "http://b", "Referer": "http://a:81/", "Accept": page},
			gate.InitiatorCrossSiteSubresource,
		},
		{map[string]string{"Origin": "http://a:81", "User-Agent": mozilla}, gate.InitiatorOwnPage},
		{map[string]string{"Sec-Fetch-Site": "same-origin", "Referer": "http://b/"}, gate.InitiatorOwnPage},
		{
			map[string]string{"Sec-Fetch-Site": "cross-site", "Referer": "http://a:81/"},
			gate.InitiatorCrossSiteSubresource,
		},
		{map[string]string{"Sec-Fetch-Site": "cross-site", "Accept": page}, gate.InitiatorCrossSiteSubresource},
		{
			map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
			gate.InitiatorUnknown,
		},
		{map[string]string{
			"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
			"Sec-Fetch-User": "?1",
		}, gate.InitiatorUserActivation},
		{
			map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
			gate.InitiatorCrossSiteNavigation,
		},
		{map[string]string{
			"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "object",
			"Sec-Fetch-User": "?1",
		}, gate.InitiatorCrossSiteSubresource},
		{map[string]string{
			"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "document",
			"Sec-Fetch-User": "?1",
		}, gate.InitiatorCrossSiteSubresource},
	} {
		header := make(http.Header)
		for name, value := range tt.fields {
			header.Set(name, value)
		}
		if got := gate.InitiatorOf(httpmessage.NewHeader(header), "a:81"); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.fields, got, tt.want)
		}
		if gate.InitiatorOf(httpmessage.NewHeader(header), "") == gate.InitiatorOwnPage &&
			tt.fields["Sec-Fetch-Site"] == "" {
			t.Errorf("%v: a page of no host", tt.fields)
		}
	}
}

func TestTrustsLines(t *testing.T) {
	for text, want := range map[string]bool{
		"http://a/": false, "HTTPS://a/": false, "file:///a": false, "telnet://a/": false, "mailto:a@b.example": false,
		"prospero://a/b": false,
		"ftp://a/":       true, "gopher://a/": true, "news:a": true, "nntp://a/b": true, "wais://a/b": true,
		"z39.50r://a/b": true, "finger://a/": true,
		"urn:example:a": true,
	} {
		if u, err := uri.Parse(text); err != nil || route.SendsCommands(u) != want {
			t.Errorf("%s: %t %v", text, !want, err)
		}
	}
}

// A page of another site cannot send fields by which it would appear to be of this server, or not to be a page.
func FuzzInitiatorOf(f *testing.F) {
	for _, seed := range []string{
		"http://b/", "null", "http://b", "about:blank", "http://a:81@b/", "//b",
		"http://[::1]/", "http://a:81\\@b/",
	} {
		f.Add(seed, "b")
	}
	f.Fuzz(func(t *testing.T, field, host string) {
		for _, name := range []string{"Origin", "Referer"} {
			header := http.Header{name: {field}, "User-Agent": {"Mozilla/5.0"}}
			by := gate.InitiatorOf(httpmessage.NewHeader(header), host)
			if cross := gate.CrossSite(httpmessage.NewHeader(header),
				host); by == gate.InitiatorProgram ||
				cross != (by == gate.InitiatorCrossSiteSubresource || by == gate.InitiatorCrossSiteNavigation) {
				t.Errorf("%s: %q of %q: %d, %t", name, field, host, by, cross)
			}
		}
	})
}
