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
	// maxOfToken bounds the sessions by one token: the one that was not used for the longest time ends for another one. So nobody ends
	// those of others, and all together are bounded by the number of tokens.
	maxOfToken = 50
	// sweptEvery is how often sessions that have ended are forgotten.
	sweptEvery = time.Minute
)

// Sessions are those of a running urnd: a reload ends none, and a restart all. The tokens by which they began are not in them, but
// their hashes, by which each request finds out whether they are valid still. They are safe for concurrent use.
type Sessions struct {
	now func() time.Time
	key [sha256.Size]byte // of the tokens of forms

	mu      sync.Mutex
	all     map[[sha256.Size]byte]*session                 // by the hash of what the cookie has
	byToken map[token.Proof]map[[sha256.Size]byte]*session // those that began with a proof
	swept   time.Time
	// outcomes are by their identifiers.
	outcomes map[string]outcome
}

// session is what began with a proof.
type session struct {
	proof       token.Proof
	begun, used time.Time
}

// New returns Sessions of nobody.
func New(now func() time.Time) *Sessions {
	s := &Sessions{
		now: now, all: make(map[[sha256.Size]byte]*session), byToken: make(map[token.Proof]map[[sha256.Size]byte]*session),
		outcomes: make(map[string]outcome),
	}
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
	s.sweep(now)
	s.makeRoom(p, now)
	key, one := sha256.Sum256([]byte(cookie)), &session{p, now, now}
	if s.byToken[p] == nil {
		s.byToken[p] = make(map[[sha256.Size]byte]*session)
	}
	s.all[key], s.byToken[p][key] = one, one
	return cookie
}

// sweep forgets the sessions that have ended.
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

// makeRoom ends the session of a token that was not used for the longest time where there are most of these.
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
		s.remove(key)
		return p, false
	}
	one.used = now
	return one.proof, true
}

// End ends the session of a cookie, if there is one.
func (s *Sessions) End(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(sha256.Sum256([]byte(cookie)))
}

// EndToken ends the sessions of a token, which was revoked.
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
