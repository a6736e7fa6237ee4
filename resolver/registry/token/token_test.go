package token_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/resolver/registry/token"
)

// newRegistry returns a registry with a stopped clock.
func newRegistry(t *testing.T) (*registry.Registry, *atomic.Int64) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	clock := new(atomic.Int64)
	clock.Store(1_900_000_000)
	lower := func(text string) (string, error) { return strings.ToLower(text), nil }
	return registry.New(registry.Config{
		Store: s, Canonical: lower, CanonicalPrefix: lower, Now: func() time.Time { return time.Unix(clock.Load(), 0) },
	}), clock
}

var root = registry.Actor{Name: "root", Role: registry.Admin}

func create(t *testing.T, r *registry.Registry, wanted token.Token) (token.Token, string) {
	t.Helper()
	made, secret, err := token.Create(t.Context(), r, root, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return made, secret
}

func TestCreateToken(t *testing.T) {
	r, _ := newRegistry(t)
	past, future := time.Unix(1, 0), time.Unix(2_000_000_000, 0)
	var many []string
	for i := range 100 {
		many = append(many, "urn:nbn:fi:"+strconv.Itoa(i)+strings.Repeat("x", 400))
	}
	limited := registry.Actor{Name: "a", Role: registry.Admin, Prefixes: []string{"urn:"}}
	for _, tt := range []struct {
		name  string
		actor registry.Actor
		token token.Token
		want  error
	}{
		{"all", root, token.Token{
			Name: "loader", Role: registry.Writer,
			Prefixes: []string{"URN:NBN:FI:", "urn:nbn:fi:"}, Note: "n", Expires: future,
		}, nil},
		{"the least", root, token.Token{Name: "r", Role: registry.Reader}, nil},
		{"no role", root, token.Token{Name: "r"}, registry.ErrInvalid},
		{"a role that there is not", root, token.Token{Name: "r", Role: 9}, registry.ErrInvalid},
		{"no name", root, token.Token{Role: registry.Reader}, registry.ErrInvalid},
		{"a name of two lines", root, token.Token{Name: "a\nb", Role: registry.Reader}, registry.ErrInvalid},
		{"it has expired", root, token.Token{Name: "r", Role: registry.Reader, Expires: past}, registry.ErrInvalid},
		{
			"by a writer",
			registry.Actor{Role: registry.Writer},
			token.Token{Name: "r", Role: registry.Reader},
			registry.ErrDenied,
		},
		{"by an admin of some names", limited, token.Token{Name: "r", Role: registry.Reader}, registry.ErrDenied},
		{
			"the name of the administrator", root,
			token.Token{Name: "Admin ", Role: registry.Reader},
			registry.ErrInvalid,
		},
		{
			"the name of a token for all", limited,
			token.Token{Name: "R", Role: registry.Reader, Prefixes: []string{"urn:"}},
			registry.ErrDenied,
		},
		{"long prefixes", root, token.Token{Name: "x", Role: registry.Reader, Prefixes: many}, registry.ErrInvalid},
	} {
		made, secret, err := token.Create(t.Context(), r, tt.actor, tt.token)
		if !errors.Is(err, tt.want) || (err == nil) != strings.HasPrefix(secret, "urnd_"+made.ID+"_") {
			t.Errorf("%s: %v, %q", tt.name, err, secret)
		}
	}
	tokens, _, err := token.NewVerifier(r).List(t.Context(), root)
	if err != nil || len(tokens) != 2 {
		t.Fatalf("%d tokens, %v", len(tokens), err)
	}
	for _, made := range tokens {
		right := slices.Equal(made.Prefixes, []string{"urn:nbn:fi:"}) && made.Expires.Equal(future) && made.By == "root"
		if made.Name == "loader" && !right {
			t.Errorf("%+v", made)
		}
	}
}

// The store contains no secret.
// The tokens that a token makes end with it at the latest, and so do those that they make.
func TestExpiryOfMadeTokens(t *testing.T) {
	r, _ := newRegistry(t)
	end := time.Unix(2_000_000_000, 0).UTC()
	first, _ := create(t, r, token.Token{Name: "a", Role: registry.Admin, Expires: end})
	forever, _ := create(t, r, token.Token{Name: "b", Role: registry.Admin})
	for _, tt := range []struct {
		by            token.Token
		expires, want time.Time
	}{
		{first, time.Time{}, end},
		{first, end.Add(time.Hour), end},
		{first, end.Add(-time.Hour), end.Add(-time.Hour)},
		{forever, time.Time{}, time.Time{}},
		{forever, end, end},
	} {
		actor := tt.by.Actor()
		made, _, err := token.Create(t.Context(), r, actor, token.Token{
			Name: "c", Role: registry.Admin, Expires: tt.expires,
		})
		if err != nil || !made.Expires.Equal(tt.want) {
			t.Errorf("%s made a token until %s, %v; want %s", tt.by.Name, made.Expires, err, tt.want)
		}
	}
}

func TestSecretIsNotStored(t *testing.T) {
	r, _ := newRegistry(t)
	made, secret := create(t, r, token.Token{Name: "a", Role: registry.Reader})
	_, random, _ := strings.Cut(secret, made.ID+"_")
	err := r.Store().Read(t.Context(), func(tx registry.Tx) error {
		stored, err := tx.Token(made.ID)
		if text := fmt.Sprintf("%q %+v", stored.Hash, stored); strings.Contains(text, random) || len(stored.Hash) == 0 {
			t.Errorf("stored is %s", text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestVerifyToken(t *testing.T) {
	r, clock := newRegistry(t)
	c := token.NewVerifier(r)
	valid, secret := create(t, r, token.Token{Name: "w", Role: registry.Writer, Prefixes: []string{"urn:x:"}})
	_, short := create(t, r, token.Token{Name: "s", Role: registry.Reader, Expires: time.Unix(clock.Load()+10, 0)})
	_, other := create(t, r, token.Token{Name: "o", Role: registry.Admin})
	for _, change := range []bool{false, true} {
		actor, err := c.Verify(t.Context(), secret, change)
		if err != nil || actor.Name != "w" || actor.Role != registry.Writer || actor.Token != valid.ID ||
			len(actor.Prefixes) != 1 {
			t.Errorf("%+v, %v", actor, err)
		}
		mixed := secret[:22] + other[22:]
		for _, wrong := range []string{
			"", "urnd_", secret[:len(secret)-1], secret + "A", strings.ToUpper(secret), mixed,
			"urnd_" + strings.Repeat("\x00", 16) + secret[21:], "Urnd_" + secret[5:],
		} {
			if _, err := c.Verify(t.Context(), wrong, change); !errors.Is(err, registry.ErrInvalidToken) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	}
	if _, err := c.Verify(t.Context(), short, false); err != nil {
		t.Error(err)
	}
	clock.Add(10)
	for _, change := range []bool{false, true} {
		if _, err := c.Verify(t.Context(), short, change); !errors.Is(err, registry.ErrInvalidToken) {
			t.Errorf("after it expired: %v", err)
		}
	}
}

// A revoked token cannot change anything from then on, and can read for less than a second.
func TestRevokeToken(t *testing.T) {
	r, clock := newRegistry(t)
	c := token.NewVerifier(r)
	made, secret := create(t, r, token.Token{Name: "w", Role: registry.Writer})
	if _, err := c.Verify(t.Context(), secret, false); err != nil {
		t.Fatal(err)
	}
	if _, err := token.Revoke(t.Context(), r, registry.Actor{Role: registry.Writer}, made.ID); !errors.Is(err,
		registry.ErrDenied) {
		t.Errorf("by a writer: %v", err)
	}
	if revoked, err := token.Revoke(t.Context(), r, root, made.ID); err != nil || revoked.Name != "w" {
		t.Errorf("%+v, %v", revoked, err)
	}
	if _, err := c.Verify(t.Context(), secret, false); err != nil {
		t.Errorf("reading at once: %v", err)
	}
	clock.Add(1)
	if _, err := c.Verify(t.Context(), secret, false); !errors.Is(err, registry.ErrInvalidToken) {
		t.Errorf("reading a second later: %v", err)
	}
	if _, err := c.Verify(t.Context(), secret, true); !errors.Is(err, registry.ErrInvalidToken) {
		t.Errorf("changing: %v", err)
	}
	for _, id := range []string{made.ID, "", "\x00", "none"} {
		if _, err := token.Revoke(t.Context(), r, root, id); !errors.Is(err, registry.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if tokens, _, err := token.NewVerifier(r).List(t.Context(), root); err != nil || len(tokens) != 0 {
		t.Errorf("the use of a revoked token makes it again: %v, %v", tokens, err)
	}
}

// The use of a token takes at most one transaction a day.
func TestTokenUse(t *testing.T) {
	r, clock := newRegistry(t)
	c := token.NewVerifier(r)
	_, secret := create(t, r, token.Token{Name: "w", Role: registry.Writer})
	used := func() string {
		tokens, _, err := token.NewVerifier(r).List(t.Context(), root)
		if err != nil || len(tokens) != 1 {
			t.Fatalf("%v, %v", tokens, err)
		}
		return tokens[0].Used
	}
	for _, day := range []string{"2030-03-17", "2030-03-18"} {
		if _, err := c.Verify(t.Context(), secret, true); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		end() // Run flushes at its end
		c.Run(ctx, func(err error) { t.Error(err) })
		if got := used(); got != day {
			t.Errorf("used on %q, want %s", got, day)
		}
		clock.Add(24 * 60 * 60)
	}
}

// FuzzVerify checks that only the secret of a token is accepted.
func FuzzVerify(f *testing.F) {
	const start = "urnd_0123456789abcdef_"
	for _, s := range []string{"", "urnd_", start + strings.Repeat("A", 43), start + strings.Repeat("\x00", 43)} {
		f.Add(s)
	}
	s, err := sqlite.Open(context.Background(), filepath.Join(f.TempDir(), "registry.db"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	c := token.NewVerifier(registry.New(registry.Config{Store: s, Now: time.Now}))
	f.Fuzz(func(t *testing.T, text string) {
		if actor, err := c.Verify(t.Context(), text, true); !errors.Is(err, registry.ErrInvalidToken) ||
			actor.Role != 0 {
			t.Errorf("%q: %+v, %v", text, actor, err)
		}
	})
}

// A token with unreadable permissions, such as an action of a newer urnd, does not affect other tokens. It is
// reported, can be revoked by an actor with all permissions, and is rejected.
func TestDamagedToken(t *testing.T) {
	r, _ := newRegistry(t)
	secret := token.SecretPrefix + "00112233445566aa_" + strings.Repeat("a", 43)
	proof, ok := token.ProofOf(secret)
	broken := registry.StoredToken{Hash: proof.Hash[:], Token: registry.Token{
		ID: "00112233445566aa", Name: "anna", Role: registry.Writer, Actions: []registry.Action{"fly"},
		Created: r.Now(), By: "root",
	}}
	if err := r.Store().Write(t.Context(),
		func(tx registry.WriteTx) error { return tx.AddToken(broken) }); err != nil || !ok {
		t.Fatal(ok, err)
	}
	made, _ := create(t, r, token.Token{Name: "limited", Role: registry.Admin, Prefixes: []string{"urn:a:"}})
	limited, v := made.Actor(), token.NewVerifier(r)
	if _, _, err := token.Create(t.Context(), r, limited,
		token.Token{Name: "anna", Role: registry.Reader, Prefixes: []string{"urn:a:"}}); !errors.Is(err,
		registry.ErrDenied) {
		t.Errorf("its name was given away: %v", err)
	}
	create(t, r, token.Token{Name: "anna", Role: registry.Reader})
	tokens, damaged, err := v.List(t.Context(), root)
	if len(tokens) != 2 || len(damaged) != 1 || !errors.Is(damaged[0], registry.ErrDamaged) ||
		!strings.Contains(damaged[0].Error(), broken.ID) || err != nil {
		t.Errorf("the list is %v, %v, %v", tokens, damaged, err)
	}
	if tokens, damaged, err = v.List(t.Context(), limited); len(tokens) != 1 || damaged != nil || err != nil {
		t.Errorf("the list of a limited token is %v, %v, %v", tokens, damaged, err)
	}
	if _, err := v.Verify(t.Context(), secret, false); !errors.Is(err, registry.ErrDamaged) {
		t.Errorf("it lets somebody in: %v", err)
	}
	if _, err := token.Revoke(t.Context(), r, limited, broken.ID); !errors.Is(err, registry.ErrDenied) {
		t.Errorf("a limited token has revoked it: %v", err)
	}
	if revoked, err := token.Revoke(t.Context(), r, root, broken.ID); err != nil || revoked.Name != "anna" {
		t.Errorf("%+v, %v", revoked, err)
	}
}
