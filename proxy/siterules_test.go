package proxy_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// log is a log that a test reads while it is written.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns and clears the text.
func (l *log) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// ruled is a proxy with policy rules; seen returns the rule of the last event.
func ruled(
	t *testing.T, mode policy.Mode, rules []policy.Rule, change func(*proxy.Config),
) (s *server, seen func() string, written *log) {
	t.Helper()
	p, err := policy.New(mode, rules)
	if err != nil {
		t.Fatal(err)
	}
	written = new(log)
	var mu sync.Mutex
	rule := ""
	s = start(t, func(c *proxy.Config) {
		c.Policy, c.Log = p, slog.New(slog.NewTextHandler(written, nil))
		c.Observe = func(e *proxy.Event) {
			mu.Lock()
			defer mu.Unlock()
			rule = e.Rule
		}
		if change != nil {
			change(c)
		}
	})
	return s, func() string {
		mu.Lock()
		defer mu.Unlock()
		return rule
	}, written
}

// A rule denies its requests, and is named in Proxy-Status, the event and the log. Conditions of all kinds
// are tested in package policy.
func TestRulesOfTheSite(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	get, post, tunnel := "GET http://"+o.addr+"/", "POST http://"+o.addr+"/", "CONNECT "+o.addr
	named := "GET http://localhost:" + strings.TrimPrefix(o.addr, "127.0.0.1:") + "/"
	for _, tt := range []struct {
		name     string
		rule     policy.Rule
		denied   []string
		accepted []string
	}{
		{"user", policy.Rule{Users: []string{"alice"}}, []string{get, tunnel}, nil},
		{"CONNECT", policy.Rule{Schemes: []string{"connect"}}, []string{tunnel}, []string{get, post}},
		{"destination", policy.Rule{Destinations: []netip.Prefix{loopback}}, []string{get, post, tunnel, named}, nil},
		{
			"another destination",
			policy.Rule{Destinations: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
			nil,
			[]string{get, tunnel, named},
		},
	} {
		rule := tt.rule
		rule.ID, rule.Deny = "no-1", true
		for _, mode := range []policy.Mode{policy.ModeEnforce, policy.ModeReport, policy.ModeOpen} {
			s, seen, written := ruled(t, mode, []policy.Rule{rule}, func(c *proxy.Config) {
				if len(rule.Users) > 0 {
					c.Access.Users = users(t, hashed(t, "alice", "a"))
				}
			})
			ask := func(request string) (head, body string) {
				c := s.dial(t)
				defer c.Close()
				c.send(t,
					request+
						" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nProxy-Authorization: Basic YWxpY2U6YQ==\r\n\r\n")
				head = c.head(t)
				if !strings.HasPrefix(request, "CONNECT") || !strings.Contains(head, " 200 ") {
					body, _ = c.rest()
				}
				return head, body
			}
			for _, request := range tt.denied {
				before := len(o.requests())
				head, body := ask(request)
				reported := written.take()
				if mode != policy.ModeEnforce {
					if !strings.Contains(head, " 200 ") || strings.Contains(reported,
						"would be denied") != (mode == policy.ModeReport) ||
						mode == policy.ModeReport && !strings.Contains(reported, "rule=no-1") {
						t.Errorf("%s, %v, %s: %.30q, log %q", tt.name, mode, request, head, reported)
					}
					continue
				}
				if !strings.HasPrefix(head, "HTTP/1.1 403 ") || !strings.Contains(head,
					"Proxy-Status: urnd; error=http_request_denied;") || !strings.Contains(head, `\"no-1\"`) ||
					!strings.Contains(body, "no-1") {
					t.Errorf("%s, %s: %q %q", tt.name, request, head, body)
				}
				if seen() != "no-1" || !strings.Contains(reported, "rule=no-1") ||
					!strings.Contains(reported, "client=127.0.0.1") || len(o.requests()) > before {
					t.Errorf("%s, %s: rule %q, log %q", tt.name, request, seen(), reported)
				}
			}
			for _, request := range tt.accepted {
				if head, _ := ask(request); !strings.Contains(head, " 200 ") {
					t.Errorf("%s, %v, %s: %.60q", tt.name, mode, request, head)
				}
			}
		}
	}
}

// The event of an allowed request has its rule, too, also if the address decides.
func TestRuleOfEvent(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	for _, rule := range []policy.Rule{
		{ID: "by-method", Methods: []string{"GET"}},
		{ID: "by-address", Destinations: []netip.Prefix{loopback}},
	} {
		s, seen, _ := ruled(t, policy.ModeEnforce, []policy.Rule{rule, {ID: "all-else", Deny: true}}, nil)
		for range 2 { // the second one uses the connection of the first
			if got := s.get(t, "http://"+o.addr+"/").StatusCode; got != 200 || seen() != rule.ID {
				t.Errorf("%d by %q", got, seen())
			}
		}
	}
}

// A rule about addresses applies to a reused connection and to a stored response: users may have different rights.
func TestRulesApplyToStoredResponses(t *testing.T) {
	o := answering(t, func(request string) string {
		if strings.HasPrefix(request, "GET /stored") {
			return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok"
		}
		return "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok"
	})
	rules := []policy.Rule{{ID: "not-bob", Deny: true, Users: []string{"bob"}, Destinations: []netip.Prefix{loopback}}}
	s, seen, _ := ruled(t, policy.ModeEnforce, rules, func(c *proxy.Config) {
		withCache(t, c)
		c.Access.Users = users(t, hashed(t, "alice", "a"), hashed(t, "bob", "b"))
	})
	for _, path := range []string{"/stored", "/passed"} {
		for range 2 {
			if got := s.get(t, "http://"+o.addr+path,
				"Proxy-Authorization: Basic YWxpY2U6YQ=="); got.StatusCode != 200 {
				t.Fatalf("alice, %s: %d", path, got.StatusCode)
			}
		}
		before := len(o.requests())
		got := s.get(t, "http://"+o.addr+path, "Proxy-Authorization: Basic Ym9iOmI=")
		if got.StatusCode != 403 || !strings.Contains(got.Header.Get("Proxy-Status"), "not-bob") ||
			seen() != "not-bob" || len(o.requests()) != before {
			t.Errorf("bob, %s: %d %v, by %q", path, got.StatusCode, got.Header, seen())
		}
	}
	if got := len(o.requests()); got != 3 {
		t.Errorf("%d requests came", got)
	}
}

// The connection goes to the address that was checked, even if the name has another address by then (DNS rebinding).
func TestRebinding(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	_, port, _ := net.SplitHostPort(o.addr)
	const forbidden = "127.0.0.1"
	var mu sync.Mutex
	requested := 0
	guard := netguard.New(time.Second, loopback).WithLookup(func(context.Context, string) ([]netip.Addr, error) {
		mu.Lock()
		defer mu.Unlock()
		requested++
		if requested%2 == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.9")}, nil // nothing listens there
		}
		return []netip.Addr{netip.MustParseAddr(forbidden)}, nil
	})
	fetch := schemehttp.New(schemehttp.Config{
		Dial: guard.DialContext, DialChecked: guardedDial(guard),
		HeaderTimeout: time.Second, Now: time.Now, MaxIdle: 4,
	})
	t.Cleanup(fetch.Close)
	rules := []policy.Rule{{
		ID: "inner", Deny: true,
		Destinations: []netip.Prefix{netip.MustParsePrefix(forbidden + "/32")},
	}}
	s, _, _ := ruled(t, policy.ModeEnforce, rules, func(c *proxy.Config) {
		c.Fetch = scheme.Mux{"http": fetch}
		c.Forward.Tunnel = tunnelBy(fetch)
	})
	for range 6 {
		for _, request := range []string{
			"GET http://rebinding.example:" + port + "/",
			"CONNECT rebinding.example:" + port,
		} {
			c := s.dial(t)
			c.send(t, request+" HTTP/1.1\r\nHost: a\r\n\r\n")
			if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 403 ") &&
				!strings.HasPrefix(head, "HTTP/1.1 502 ") {
				t.Errorf("%q", head)
			}
			c.Close()
		}
	}
	if got := o.requests(); len(got) > 0 {
		t.Errorf("it was reached: %q", got)
	}
}
