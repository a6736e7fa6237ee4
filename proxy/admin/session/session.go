// Package session manages the browser sessions of the admin interface: their cookies, CSRF tokens and the
// outcomes of forms. A proof of a token enters; a cookie value leaves, which later finds the proof again.
// Sessions are in memory only. Cookies follow RFC 6265bis.
package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry/token"
)

// Limits of sessions.
const (
	// MaxIdle is the time after which an unused session expires, and MaxAge the maximum lifetime of a
	// session.
	MaxIdle = time.Hour
	MaxAge  = 12 * time.Hour
	// maxOfToken limits the sessions of one token: a new session evicts the one that was unused for the
	// longest time. So no client can end the sessions of other tokens, and the number of tokens bounds all
	// sessions.
	maxOfToken = 50
	// sweptEvery is the interval at which expired sessions are removed.
	sweptEvery = time.Minute
)

// Sessions are the sessions of a running urnd: they outlive a reload, but not a restart. They store hashes of
// the tokens, not the tokens; each request checks by its hash whether the token is still valid. They are safe
// for concurrent use.
type Sessions struct {
	now func() time.Time
	key [sha256.Size]byte // the HMAC key of CSRF tokens

	mu      sync.Mutex
	all     map[[sha256.Size]byte]*session                 // by the hash of the cookie
	byToken map[token.Proof]map[[sha256.Size]byte]*session // by the proof with which they were started
	swept   time.Time
	// outcomes are by identifier.
	outcomes map[string]outcome
}

// session is one session of a token.
type session struct {
	proof         token.Proof
	started, used time.Time
}

// New returns Sessions without any session.
func New(now func() time.Time) *Sessions {
	s := &Sessions{
		now: now, all: make(map[[sha256.Size]byte]*session),
		byToken:  make(map[token.Proof]map[[sha256.Size]byte]*session),
		outcomes: make(map[string]outcome),
	}
	_, _ = rand.Read(s.key[:]) // it never fails
	return s
}

// Begin starts a session for a token, and returns the value of its cookie. The ID of the proof is "" for the
// token of administrators.
func (s *Sessions) Begin(p token.Proof) (cookie string) {
	cookie = sessionPrefix + NewCookieValue()
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	s.makeRoom(p, now)
	key, one := sha256.Sum256([]byte(cookie)), &session{p, now, now}
	if s.byToken[p] == nil {
		s.byToken[p] = make(map[[sha256.Size]byte]*session)
	}
	s.all[key], s.byToken[p][key] = one, one
	return cookie
}

// sweep removes expired sessions.
func (s *Sessions) sweep(now time.Time) {
	if now.Sub(s.swept) < sweptEvery {
		return
	}
	s.swept = now
	for key, one := range s.all {
		if !one.isValid(now) {
			s.remove(key)
		}
	}
}

// makeRoom evicts the session of a token that was unused for the longest time, if the token has maxOfToken.
func (s *Sessions) makeRoom(p token.Proof, now time.Time) {
	if len(s.byToken[p]) < maxOfToken {
		return
	}
	var oldest [sha256.Size]byte
	at := now.Add(1)
	for key, one := range s.byToken[p] {
		if one.used.Before(at) {
			oldest, at = key, one.used
		}
	}
	s.remove(oldest)
}

func (s *Sessions) remove(key [sha256.Size]byte) {
	one := s.all[key]
	if one == nil {
		return
	}
	delete(s.all, key)
	if delete(s.byToken[one.proof], key); len(s.byToken[one.proof]) == 0 {
		delete(s.byToken, one.proof)
	}
}

func (o *session) isValid(now time.Time) bool {
	return now.Sub(o.used) < MaxIdle && now.Sub(o.started) < MaxAge
}

// Lookup returns the proof of the session of a cookie, and updates its time of use; ok is false if there is no
// such session or it has expired.
func (s *Sessions) Lookup(cookie string) (p token.Proof, ok bool) {
	now, key := s.now(), sha256.Sum256([]byte(cookie))
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[key]
	switch {
	case one == nil:
		return p, false
	case !one.isValid(now):
		s.remove(key)
		return p, false
	}
	one.used = now
	return one.proof, true
}

// End ends the session of a cookie, if it exists.
func (s *Sessions) End(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(sha256.Sum256([]byte(cookie)))
}

// EndToken ends the sessions of a revoked token.
func (s *Sessions) EndToken(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, own := range s.byToken {
		if p.ID != id {
			continue
		}
		for key := range own {
			delete(s.all, key)
		}
		delete(s.byToken, p)
	}
}

// CSRFToken returns the CSRF token for a cookie: a page of another site cannot know it, since it can read neither
// the cookie nor the form.
func (s *Sessions) CSRFToken(cookie string) string {
	h := hmac.New(sha256.New, s.key[:])
	_, _ = h.Write([]byte(cookie)) // it never fails
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// IsCSRFToken reports whether shown is the CSRF token for a cookie.
func (s *Sessions) IsCSRFToken(cookie, shown string) bool {
	return cookie != "" && hmac.Equal([]byte(s.CSRFToken(cookie)), []byte(shown))
}

// sessionPrefix is the prefix of cookies of sessions: no other value contains a dot.
const sessionPrefix = "s."

// IsSession reports whether a cookie belongs to a session, which may have expired.
func IsSession(cookie string) bool { return strings.HasPrefix(cookie, sessionPrefix) }

// NewCookieValue returns a new random value of a cookie. Without a session, it only ties CSRF tokens to a browser.
func NewCookieValue() string {
	var byteCount [32]byte
	_, _ = rand.Read(byteCount[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(byteCount[:])
}
