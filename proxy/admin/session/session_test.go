package session_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/resolver/registry/token"
)

// newSessions returns Sessions with a clock that the test controls.
func newSessions() (*session.Sessions, *time.Time) {
	now := time.Unix(1_900_000_000, 0)
	return session.New(func() time.Time { return now }), &now
}

func TestSession(t *testing.T) {
	s, now := newSessions()
	p := token.Proof{ID: "a", Hash: [32]byte{1}}
	cookie, other := s.Begin(p), s.Begin(token.Proof{})
	if got, ok := s.Lookup(cookie); !ok || got != p || cookie == other {
		t.Fatalf("%v, %v", got, ok)
	}
	for _, unknown := range []string{"", "a", cookie + "a", strings.ToLower(cookie)} {
		if _, ok := s.Lookup(unknown); ok {
			t.Errorf("%q is a session", unknown)
		}
	}
	s.End(other)
	if _, ok := s.Lookup(other); ok {
		t.Error("a session goes on after its end")
	}
	for range 12 { // used nearly once an hour
		*now = now.Add(session.MaxIdle - time.Second)
		if _, ok := s.Lookup(cookie); !ok {
			t.Fatal("a session that is used has ended")
		}
	}
	*now = now.Add(12 * time.Second)
	if _, ok := s.Lookup(cookie); ok {
		t.Error("a session lives longer than half a day")
	}
	idle := s.Begin(p)
	*now = now.Add(session.MaxIdle)
	if _, ok := s.Lookup(idle); ok {
		t.Error("an unused session does not expire")
	}
}

// Many tokens, each with the maximum number of sessions, end none of another token.
func TestManySessionsOfMany(t *testing.T) {
	s, now := newSessions()
	administrator := s.Begin(token.Proof{})
	var last string
	for i := range 40 {
		for range 60 {
			*now = now.Add(time.Millisecond)
			last = s.Begin(token.Proof{ID: strconv.Itoa(i)})
		}
	}
	for name, cookie := range map[string]string{"the administrator": administrator, "the last one": last} {
		if _, ok := s.Lookup(cookie); !ok {
			t.Errorf("the session of %s has ended", name)
		}
	}
}

// Repeated logins end sessions of the same token only.
func TestManySessionsOfOne(t *testing.T) {
	s, now := newSessions()
	other, first := s.Begin(token.Proof{ID: "other"}), s.Begin(token.Proof{ID: "a"})
	var last string
	for range 2000 {
		*now = now.Add(time.Millisecond)
		last = s.Begin(token.Proof{ID: "a"})
	}
	for name, is := range map[string][2]any{
		"of another": {other, true}, "his last one": {last, true},
		"his first one": {first, false},
	} {
		if _, ok := s.Lookup(is[0].(string)); ok != is[1] {
			t.Errorf("the session %s: %v", name, ok)
		}
	}
}

func TestEndToken(t *testing.T) {
	s, _ := newSessions()
	ended, other := s.Begin(token.Proof{ID: "a"}), s.Begin(token.Proof{ID: "b"})
	s.EndToken("a")
	for cookie, want := range map[string]bool{ended: false, other: true} {
		if _, ok := s.Lookup(cookie); ok != want {
			t.Errorf("the session is valid: %v, want %v", ok, want)
		}
	}
	if _, ok := s.Lookup(s.Begin(token.Proof{ID: "a"})); !ok {
		t.Error("none can begin any more")
	}
}

func TestForm(t *testing.T) {
	s, _ := newSessions()
	other, _ := newSessions()
	cookie := session.NewCookieValue()
	form := s.CSRFToken(cookie)
	if !s.IsCSRFToken(cookie, form) {
		t.Error("a form is refused")
	}
	for name, got := range map[string]bool{
		"of another cookie": s.IsCSRFToken(session.NewCookieValue(), form),
		"of another urnd":   other.IsCSRFToken(cookie, form), "without a cookie": s.IsCSRFToken("", s.CSRFToken("")),
		"of nothing": s.IsCSRFToken(cookie, ""),
		"cut":        s.IsCSRFToken(cookie, form[1:]),
	} {
		if got {
			t.Errorf("a form %s is taken", name)
		}
	}
}

func TestCookie(t *testing.T) {
	for _, tt := range []struct {
		host   string
		secure bool
		want   string
	}{
		{"127.0.0.1:8142", false, "urnd-8142=v; Path=/; HttpOnly; SameSite=Strict"},
		{"[::1]:8142", false, "urnd-8142=v; Path=/; HttpOnly; SameSite=Strict"},
		{"admin.example", true, "__Host-urnd=v; Path=/; HttpOnly; Secure; SameSite=Strict"},
		{"admin.example:a;b", true, "__Host-urnd=v; Path=/; HttpOnly; Secure; SameSite=Strict"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = tt.host
		got := session.SetCookie(r, "v", tt.secure)
		if got != tt.want {
			t.Errorf("%s: %q", tt.host, got)
		}
		pair, _, _ := strings.Cut(got, ";")
		r.Header.Set("Cookie", pair)
		if value := session.CookieOf(r, tt.secure); value != "v" {
			t.Errorf("%s: read is %q", tt.host, value)
		}
		if value := session.CookieOf(r, !tt.secure); value != "" {
			t.Errorf("%s: read is %q, which came otherwise", tt.host, value)
		}
		if got := session.SetCookie(r, "", tt.secure); !strings.Contains(got, "Max-Age=0") {
			t.Errorf("%s: %q does not take the cookie away", tt.host, got)
		}
	}
}
