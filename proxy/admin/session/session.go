// Package session knows who has logged in to the admin interface by a browser.
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

// Bounds of sessions.
const (
	// MaxIdle is for how long a session that is not used is valid, and MaxAge for how long one is at most.
	MaxIdle = time.Hour
	MaxAge  = 12 * time.Hour
	// maxSessions bounds the sessions at a time, and maxOfToken those by one token, so that nobody ends those of others: the one that was
	// not used for the longest time ends for another one.
	maxSessions = 1000
	maxOfToken  = 50
)

// Sessions are those of a running urnd: a reload ends none, and a restart all. The tokens by which they began are not in them, but
// their hashes, by which each request finds out whether they are valid still. They are safe for concurrent use.
type Sessions struct {
	now func() time.Time
	key [sha256.Size]byte // of the tokens of forms

	mu  sync.Mutex
	all map[[sha256.Size]byte]*session // by the hash of what the cookie has
}

// session is what began with a proof.
type session struct {
	proof       token.Proof
	begun, used time.Time
}

// New returns Sessions of nobody.
func New(now func() time.Time) *Sessions {
	s := &Sessions{now: now, all: make(map[[sha256.Size]byte]*session)}
	_, _ = rand.Read(s.key[:]) // it never fails
	return s
}

// Begin begins a session of who has shown a token, and returns the value of its cookie. The identifier of the proof is "" for the token
// of administrators.
func (s *Sessions) Begin(p token.Proof) (cookie string) {
	cookie = begun + Value()
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(now, func(o *session) bool { return o.proof == p }, maxOfToken)
	s.makeRoom(now, func(*session) bool { return true }, maxSessions)
	s.all[sha256.Sum256([]byte(cookie))] = &session{p, now, now}
	return cookie
}

// makeRoom forgets the sessions that have ended, and one more of some where there are most of these.
func (s *Sessions) makeRoom(now time.Time, isOne func(*session) bool, most int) {
	if len(s.all) < most {
		return
	}
	var oldest [sha256.Size]byte
	var at time.Time
	n := 0
	for key, one := range s.all {
		switch {
		case !one.isValid(now):
			delete(s.all, key)
		case isOne(one):
			if n++; at.IsZero() || one.used.Before(at) {
				oldest, at = key, one.used
			}
		}
	}
	if n >= most {
		delete(s.all, oldest)
	}
}

func (o *session) isValid(now time.Time) bool {
	return now.Sub(o.used) < MaxIdle && now.Sub(o.begun) < MaxAge
}

// Of returns the proof by which the session of a cookie has begun; ok is false where there is none, or no more.
func (s *Sessions) Of(cookie string) (p token.Proof, ok bool) {
	now, key := s.now(), sha256.Sum256([]byte(cookie))
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[key]
	switch {
	case one == nil:
		return p, false
	case !one.isValid(now):
		delete(s.all, key)
		return p, false
	}
	one.used = now
	return one.proof, true
}

// End ends the session of a cookie, if there is one.
func (s *Sessions) End(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(cookie)))
}

// Form returns what forms have that are sent to who has a cookie: no page of another site can know it, since it reads neither.
func (s *Sessions) Form(cookie string) string {
	h := hmac.New(sha256.New, s.key[:])
	_, _ = h.Write([]byte(cookie)) // it never fails
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// IsForm reports whether a form was sent to who has a cookie, by what the form has.
func (s *Sessions) IsForm(cookie, shown string) bool {
	return cookie != "" && hmac.Equal([]byte(s.Form(cookie)), []byte(shown))
}

// begun begins the cookies of sessions: no other value has a dot.
const begun = "s."

// HasBegun reports whether a cookie is of a session, which may have ended.
func HasBegun(cookie string) bool { return strings.HasPrefix(cookie, begun) }

// Value returns a new value of a cookie. Without a session, it is the one to which forms belong of who needs none.
func Value() string {
	var octets [32]byte
	_, _ = rand.Read(octets[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(octets[:])
}
