package nntp_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/nntp"
	"github.com/urnd/urnd/uri"
)

// config returns a configuration that dials only loopback addresses.
func config(servers ...nntp.Server) nntp.Config {
	guard := netguard.New(time.Minute, netip.MustParsePrefix("127.0.0.0/8"))
	return nntp.Config{
		Dial: func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
			return guard.WithCheck(check).DialContext(ctx, network, address)
		},
		Limits:  scheme.Limits{Timeout: testserver.Timeout, Entries: 1000, Bytes: 1 << 20, Line: 64 << 10},
		Now:     time.Now,
		Servers: servers, PageSize: 10,
	}
}

// fetch fetches a URL; fields are names and values.
func fetch(t *testing.T, c nntp.Config, text string, fields ...string) (*scheme.Resource, error) {
	t.Helper()
	u, err := uri.Parse(text)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	header := httpmessage.Fields{}
	for i := 0; i < len(fields); i += 2 {
		header.Set(fields[i], fields[i+1])
	}
	resource, err := nntp.New(c).Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u, Fields: header}})
	if err == nil {
		t.Cleanup(func() { resource.Body.Close() })
	}
	return resource, err
}

// listing fetches a URL that must be a listing, with well-formed links.
func listing(t *testing.T, c nntp.Config, text string, fields ...string) *scheme.Listing {
	t.Helper()
	r, err := fetch(t, c, text, fields...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if r.Listing == nil {
		t.Fatalf("%s: no listing, %d %v", text, r.Status, r.Fields)
	}
	links := []string{r.Listing.URI}
	for _, l := range []*scheme.Link{r.Listing.Parent, r.Listing.Previous, r.Listing.Next} {
		if l != nil {
			links = append(links, l.URI)
		}
	}
	for _, i := range r.Listing.Items {
		links = append(links, i.URI)
	}
	for _, p := range r.Listing.Properties {
		links = append(links, p.URI)
	}
	for _, l := range links {
		if l == "" {
			continue
		}
		if u, err := uri.Parse(l); err != nil || u.Check() != nil || u.Normalize() != u {
			t.Errorf("%s: the link %q: %v, %v", text, l, err, u.Check())
		}
	}
	return r.Listing
}

// body fetches a URL that must be a stream, and reads it.
func body(t *testing.T, c nntp.Config, text string, fields ...string) (string, httpmessage.Fields) {
	t.Helper()
	r, err := fetch(t, c, text, fields...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil || r.Listing != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(data), r.Fields
}

// status returns the status of the refusal of a URL; 0 for none.
func status(t *testing.T, c nntp.Config, text string, fields ...string) int {
	t.Helper()
	_, err := fetch(t, c, text, fields...)
	var refusal *scheme.StatusError
	if !errors.As(err, &refusal) {
		t.Logf("%s: %v", text, err)
		return 0
	}
	return refusal.Status
}

const multipartArticle = `From: =?iso-8859-1?Q?J=F6rg?= <j@news.test>
Newsgroups: local.test,local.other
Subject: =?utf-8?B?R3LDvMOfZQ==?= <b>bold</b>
Message-ID: <parts/1?x@news.test>
References: <root@news.test> <gone@news.test>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="o"

--o
Content-Type: multipart/alternative; boundary="i"

--i
Content-Type: text/html; charset=utf-8

<p>Hello <script>alert(1)</script></p>
--i
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe
.dot
--i--
--o
Content-Type: image/png; name="../../evil.png"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="../../ev\"il.png"

iVBORw0KGgo=
--o--
`

// TestINN reads from a real server: RFC 3977, with capabilities, MODE READER, counts and overviews.
func TestINN(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s := testserver.StartINN(t, "local.test", "local.other", "local.empty", "secret.plans")
	s.Feed(
		"From: a@news.test\nNewsgroups: local.test\nSubject: Root\nMessage-ID: <root@news.test>\nDate: Sun, 22 Nov "+
			"2026 12:00:00 +0000\n\n..two dots\n.\nend\n",
		multipartArticle,
		"From: c@news.test\nNewsgroups: local.other\nSubject: Alone\nMessage-ID: <alone@news.test>\n\nalone\n",
		"From: s@news.test\nNewsgroups: secret.plans\nSubject: Plans\nMessage-ID: <plans@news.test>\n\nplans\n",
	)
	here := config(nntp.Server{Address: s.Addr()})
	at := "//" + s.Addr() + "/"

	t.Run("groups", func(t *testing.T) {
		l := listing(t, here, "news:local.*")
		got := fmt.Sprint(l.Kind, len(l.Items))
		for _, i := range l.Items {
			got += fmt.Sprint("|", i.Name, " ", i.Note, " ", *i.Count, " ", i.URI)
		}
		if want := "groups3|local.empty About local.empty 0 news:local.empty|local.other About local.other 2 " +
			"news:local.other|local.test About local.test 2 news:local.test"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if l := listing(t, here, "news:*"); len(l.Items) < 3 || l.Parent != nil {
			t.Errorf("all groups: %+v", l)
		}
	})
	t.Run("group", func(t *testing.T) {
		for _, base := range []string{"news:", "news:" + at, "nntp:" + at} {
			l := listing(t, here, base+"local.test")
			if len(l.Items) != 2 || l.Items[0].Name != "Root" || l.Items[0].Depth != 0 ||
				l.Items[1].Name != "Grüße <b>bold</b>" || l.Items[1].Depth != 1 ||
				l.Items[1].From != "Jörg <j@news.test>" ||
				!l.Items[0].Modified.Equal(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)) || l.Items[0].Size == nil {
				t.Errorf("%s: %+v", base, l.Items)
			}
			want := base + "parts%2F1%3Fx@news.test"
			if strings.HasPrefix(base, "nntp:") {
				want = base + "local.test/2"
			}
			if l.Items[1].URI != want || len(l.Notes) != 1 {
				t.Errorf("%s: the link is %s, notes %q", base, l.Items[1].URI, l.Notes)
			}
		}
		if l := listing(t, here, "news:local.empty"); len(l.Items) != 0 || l.Kind != scheme.KindGroup {
			t.Errorf("an empty group: %+v", l)
		}
		one := here
		one.PageSize = 1
		l := listing(t, one, "news:local.test")
		if len(l.Items) != 1 || l.Previous != nil || l.Next == nil || l.Next.URI != "news:local.test?articles=1-1" {
			t.Fatalf("the newest page: %+v", l)
		}
		l = listing(t, one, l.Next.URI)
		if len(l.Items) != 1 || l.Items[0].Name != "Root" || l.Next != nil || l.Previous == nil ||
			l.Previous.URI != "news:local.test" {
			t.Errorf("the oldest page: %+v", l)
		}
	})
	t.Run("article", func(t *testing.T) {
		l := listing(t, here, "news:root@news.test")
		if l.Kind != scheme.KindArticle || l.Title != "Root" ||
			strings.ReplaceAll(l.Text, "\r", "") != "..two dots\n.\nend\n" || l.Parent.URI != "news:local.test" {
			t.Errorf("%+v", l)
		}
		l = listing(t, here, "nntp:"+at+"local.test/2")
		names := ""
		for _, i := range l.Items {
			names += fmt.Sprint(i.Name, " ", i.Type, " ", i.URI, "|")
		}
		want := "part-1.1.html text/html nntp:" + at + "local.test/2?part=1.1|ev_il.png image/png nntp:" + at +
			"local.test/2?part=2|source message/rfc822 nntp:" + at + "local.test/2?source|"
		if names != want || l.Text != "Grüße\n.dot" {
			t.Errorf("got %q\n%s\nwant %s", l.Text, names, want)
		}
		links := ""
		for _, p := range l.Properties {
			if p.URI != "" {
				links += p.Name + " " + p.URI + "|"
			}
		}
		if want := strings.ReplaceAll("Newsgroups nntp:Alocal.test|Newsgroups nntp:Alocal.other|Message-ID "+
			"news:Aparts%2F1%3Fx@news.test|References news:Aroot@news.test|References news:Agone@news.test|", "A",
			at); links != want {
			t.Errorf("got  %s\nwant %s", links, want)
		}
	})
	t.Run("parts", func(t *testing.T) {
		got, header := body(t, here, "news:parts%2F1%3Fx@news.test?part=2")
		if got != "\x89PNG\r\n\x1a\n" || header.Get("Content-Type") != "image/png" ||
			header.Get("Content-Disposition") != "attachment; filename=ev_il.png" {
			t.Errorf("%q %v", got, header)
		}
		if got, header = body(t, here,
			"news:parts%2F1%3Fx@news.test?part=1.2"); got != "Grüße\r\n.dot" && got != "Grüße\n.dot" ||
			header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%q %v", got, header)
		}
		if header.Get("Cache-Control") != "public, max-age=86400" || header.Get("Etag") == "" {
			t.Errorf("%v", header)
		}
		r, err := fetch(t, here, "news:parts%2F1%3Fx@news.test?part=1.2", "If-None-Match", header.Get("Etag"))
		if err != nil || r.Status != http.StatusNotModified {
			t.Errorf("conditional: %+v, %v", r, err)
		}
		for _, part := range []string{"3", "1", "1.3", "2.1", "1.1.1"} {
			if got := status(t, here, "news:parts%2F1%3Fx@news.test?part="+part); got != http.StatusNotFound {
				t.Errorf("part %s: %d", part, got)
			}
		}
		if got, _ := body(t, here, "news:root@news.test?source"); !strings.HasSuffix(got,
			"\r\n\r\n..two dots\r\n.\r\nend\r\n") || !strings.Contains(got,
			"Subject: Root\r\n") {
			t.Errorf("source %q", got)
		}
	})
	t.Run("missing", func(t *testing.T) {
		for _, text := range []string{
			"news:none@news.test", "news:local.none", "nntp:" + at + "local.test/99",
			"nntp:" + at + "local.none/1",
		} {
			if got := status(t, here, text); got != http.StatusNotFound {
				t.Errorf("%s: %d", text, got)
			}
		}
	})
	t.Run("login", func(t *testing.T) {
		secret := "nntp:" + at + "secret.plans"
		_, err := fetch(t, here, secret)
		var refusal *scheme.StatusError
		if !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized ||
			!strings.HasPrefix(refusal.Fields.Get("WWW-Authenticate"), "Basic realm=") {
			t.Fatalf("without login: %v", err)
		}
		if got := status(t, here, "news:secret.plans"); got != http.StatusForbidden {
			t.Errorf("without login at a configured server: %d", got)
		}
		right := "Basic " + base64.StdEncoding.EncodeToString([]byte("reader:secret"))
		wrong := "Basic " + base64.StdEncoding.EncodeToString([]byte("reader:wrong"))
		trusting := here
		trusting.RootCAs = s.Roots
		if got := status(t, trusting, secret, "Authorization", wrong); got != http.StatusUnauthorized {
			t.Errorf("with another password: %d", got)
		}
		if _, err := fetch(t, here, secret, "Authorization", right); err == nil ||
			status(t, here, secret, "Authorization", right) != 0 {
			t.Errorf("by TLS with a certificate that is not trusted: %v", err)
		}
		if l := listing(t, trusting, secret, "Authorization", right); len(l.Items) != 1 {
			t.Errorf("with a login: %+v", l)
		}
		r, err := fetch(t, trusting, "nntp://reader:secret@"+s.Addr()+"/secret.plans")
		if err != nil || r.Fields.Get("Cache-Control") != "no-store" ||
			strings.Contains(fmt.Sprintf("%+v", r.Listing), "reader") {
			t.Errorf("with a user in the URL: %+v, %v", r, err)
		}
		trusting.User, trusting.Password = "reader", "secret"
		if l := listing(t, trusting, "news:plans@news.test"); l.Text != "plans\r\n" && l.Text != "plans\n" {
			t.Errorf("with the login of the configuration: %+v", l)
		}
		trusting.Password = "wrong"
		if _, err := fetch(t, trusting, "news:plans@news.test"); !errors.Is(err, resolver.ErrUnreachable) ||
			!strings.Contains(err.Error(), "the configured login") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("with a wrong login in the configuration: %v", err)
		}
	})
	t.Run("connections", func(t *testing.T) { testINNConnections(t, s) })
}

// testINNConnections sends many requests on one connection, and on another one for each login.
func testINNConnections(t *testing.T, s *testserver.INN) {
	relay := testserver.StartRelay(t, s.Addr())
	c := config(nntp.Server{Address: relay.Addr()})
	c.RootCAs = s.Roots
	var dialled atomic.Int64
	dial := c.Dial
	c.Dial = func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		dialled.Add(1)
		return dial(ctx, network, address, check)
	}
	h := pooled(t, c)
	fetch := func(want int64, requests ...string) {
		t.Helper()
		for _, text := range requests {
			if got, err := ask(t, h, text); got != http.StatusOK || err != nil {
				t.Errorf("%s: %d, %v", text, got, err)
			}
		}
		if got := dialled.Load(); got != want {
			t.Errorf("%d connections, want %d", got, want)
		}
	}
	at := relay.Addr() + "/"
	public := []string{
		"news:*", "news:local.test", "nntp://" + at + "local.other", "nntp://" + at + "local.test/1",
		"news:root@news.test", "news:root@news.test?source", "news:parts%2F1%3Fx@news.test?part=2", "news:local.empty",
		"news:*",
	}
	fetch(1, public...)
	for range 2 {
		fetch(2, "nntp://reader:secret@"+at+"secret.plans", "nntp://reader:secret@"+at+"local.test")
	}
	if got, err := ask(t, h, "nntp://"+at+"secret.plans"); got != http.StatusUnauthorized || err != nil {
		t.Errorf("the group of another: %d, %v", got, err)
	}
	fetch(2, public...)
	relay.Cut() // as a server or a firewall closes idle connections
	relay.Restore()
	fetch(3, public...)
}
