package forward_test

import (
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
)

// RFC 4559 sections 4 and 6: NTLM and Negotiate authenticate a connection. A client with a session gets Proxy-Support;
// another one gets only the challenges that it can answer, or an error if there are none (RFC 9110 section 15.5.2).
func TestChallenges(t *testing.T) {
	const negotiate, basic, support = "Negotiate", `Basic realm="a"`, "Session-Based-Authentication"
	for name, tt := range map[string]struct {
		status  int
		sent    []string // fields of the origin
		session bool
		want    string
		err     error
	}{
		"none": {200, nil, false, "", nil},
		"of requests": {
			401,
			[]string{"Www-Authenticate", basic},
			false,
			"Www-Authenticate=" + basic, nil,
		},
		"of requests, in a session": {
			401,
			[]string{"Www-Authenticate", basic},
			true,
			"Www-Authenticate=" + basic, nil,
		},
		"of connections": {
			401,
			[]string{"Www-Authenticate", negotiate},
			false, "",
			problem.ErrConnectionAuth,
		},
		"of connections, in a session": {
			401,
			[]string{"Www-Authenticate", negotiate},
			true,
			"Www-Authenticate=" + negotiate + " Proxy-Support=" + support, nil,
		},
		"of both": {
			401,
			[]string{"Www-Authenticate", negotiate, "Www-Authenticate", basic, "Proxy-Support", support},
			false,
			"Www-Authenticate=" + basic, nil,
		},
		"of both, in a session": {
			401,
			[]string{"Www-Authenticate", negotiate, "Www-Authenticate", basic},
			true,
			"Www-Authenticate=" + negotiate + " Www-Authenticate=" + basic + " Proxy-Support=" + support, nil,
		},
		"the end of one, without a claim": {
			200,
			[]string{"Www-Authenticate", "Negotiate abc=", "Proxy-Support", support},
			false, "", nil,
		},
		"a claim of others": {200, []string{"Proxy-Support", support}, false, "", nil},
	} {
		for _, upgrade := range [][]string{nil, {"Connection", "Upgrade", "Upgrade", "a"}} {
			w := newWeb(t, nil, nil)
			w.answers(tt.status, "ok", tt.sent...)
			r := requested(t, http.MethodGet, "http://a.example/", upgrade...)
			if tt.session {
				r.Session = new(forward.Session)
			}
			client := w.serve(t, r)
			if got := linesOf(client.Fields, "Www-Authenticate", "Proxy-Support"); !errors.Is(client.err,
				tt.err) || got != tt.want || tt.err == nil && client.Status != tt.status {
				t.Errorf("%s, %q: %d %s, %v", name, upgrade, client.Status, got, client.err)
			}
			if len(w.slots) != 0 {
				t.Errorf("%s, %q: a fetch is under way", name, upgrade)
			}
		}
	}
}

// Challenges that are removed for a client without a session remain in the stored response, for clients with one.
func TestStoredChallenges(t *testing.T) {
	w := newWeb(t, newStore(t), nil)
	w.answers(200, "ok", "Cache-Control", "max-age=60", "Www-Authenticate", "Negotiate", "Www-Authenticate",
		`Basic realm="a"`)
	const basic = `Www-Authenticate=Basic realm="a"`
	for round, want := range []string{basic, basic, "Www-Authenticate=Negotiate " + basic} {
		r := requested(t, http.MethodGet, "http://a.example/")
		if round == 2 {
			r.Session = new(forward.Session)
		}
		client := w.serve(t, r)
		if got := linesOf(client.Fields, "Www-Authenticate"); client.err != nil || got != want {
			t.Errorf("answer %d: %q, %v, want %q", round, got, client.err, want)
		}
	}
	if _, count := w.last(); count != 1 {
		t.Errorf("the origin was asked %d times", count)
	}
}

// Credentials of a connection are sent on a connection bound to the client, to the same server, and so are
// later requests. Bound connections have a limit.
func TestCredentialsOfConnections(t *testing.T) {
	slots := make(quota.Semaphore, 1)
	w := newWeb(t, nil, func(c *forward.Config) {
		c.Bound = quota.Limit{Semaphore: slots, Busy: problem.ErrTooManyBoundConnections}
	})
	const login = "Negotiate abc="
	r := requested(t, http.MethodGet, "http://a.example/", "Authorization", login)
	if client := w.serve(t, r); !errors.Is(client.err, problem.ErrConnectionAuth) {
		t.Errorf("without a connection of its own: %v", client.err)
	}
	if _, count := w.last(); count > 0 {
		t.Error("the credentials are sent")
	}
	session := new(forward.Session)
	ask := func(target string, fields ...string) (*recorder, *scheme.BoundConn) {
		r := requested(t, http.MethodGet, target, fields...)
		r.Session, r.QuotaAddr = session, netip.MustParseAddr("192.0.2.1")
		client := w.serve(t, r)
		sent, _ := w.last()
		return client, sent.Bound
	}
	slots <- struct{}{}
	if client, _ := ask("http://a.example/", "Authorization", login); !errors.Is(client.err,
		problem.ErrTooManyBoundConnections) {
		t.Errorf("beyond the limit: %v", client.err)
	}
	<-slots
	w.answers(200, "ok", "Connection", "close")
	client, first := ask("http://a.example/", "Authorization", login)
	if client.err != nil || first == nil || !client.closes {
		t.Errorf("%+v by %v", client, first)
	}
	if first != nil && session.IsBound() { // no connection was left idle for the next request
		t.Error("a connection that the server has closed waits")
	}
	client, other := ask("http://a.example/")
	if client.err != nil || other != nil || client.closes {
		t.Errorf("another request: %+v by %v", client, other)
	}
	r = requested(t, http.MethodGet, "ftp://a.example/", "Authorization", login)
	if client := w.serve(t, r); client.err != nil {
		t.Errorf("such credentials of another protocol: %v", client.err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// Paths of a host that have other servers get requests at these, also after a login at the servers of another path.
func TestConnectionsOfSites(t *testing.T) {
	w := newWeb(t, nil, func(c *forward.Config) { c.Bound = quota.Limit{Semaphore: make(quota.Semaphore, 3)} })
	w.answer = func(r scheme.Request) (*scheme.Resource, error) {
		if r.Bound != nil {
			r.Bound.Put(idleConn{}, time.Hour)
		}
		return respond(200, "ok"), nil
	}
	first := &forward.Site{Pool: pool(t, "http://192.0.2.1")}
	same := &forward.Site{Pool: first.Pool, Path: "/same"}
	other := &forward.Site{Pool: pool(t, "http://192.0.2.2"), Path: "/other", Replace: "/v2"}
	session := new(forward.Session)
	defer func() { _ = session.Close() }()
	for _, tt := range []struct {
		site    *forward.Site
		path    string
		login   bool
		server  string
		isBound bool
	}{
		{first, "/a", true, "http://192.0.2.1/a", true},
		{other, "/other/a", false, "http://192.0.2.2/v2/a", false},
		{same, "/same/a", false, "http://192.0.2.1/same/a", true},
		{other, "/other/a", true, "http://192.0.2.2/v2/a", true},
		{first, "/secret", false, "http://192.0.2.1/secret", true},
	} {
		r := requested(t, http.MethodGet, "http://www.example"+tt.path)
		if tt.login {
			r.Fields.Add("Authorization", "NTLM a")
		}
		r.Session, r.Site = session, tt.site
		client := w.serve(t, r)
		sent, _ := w.last()
		if sent.URI.String() != tt.server || (sent.Bound != nil) != tt.isBound || client.err != nil {
			t.Errorf("%s: sent to %s, bound %t, %v", tt.path, sent.URI, sent.Bound != nil, client.err)
		}
	}
}

// idleConn is a connection that is idle.
type idleConn struct{}

func (idleConn) Alive() bool  { return true }
func (idleConn) Close() error { return nil }
