// Package token makes, lists, revokes and verifies the tokens by which clients of the API read and change a registry.
package token

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Token is what the packages that work with tokens call a registry.Token.
type Token = registry.Token

// Start is what the secret of each token begins with, so that programs which look for leaked secrets find it.
const Start = "urnd_"

// Public is the length of what a secret begins with that is not secret: Start and the identifier.
const Public = len(Start) + idLength

// The lengths of the parts of a secret: "urnd_ID_RANDOM".
const (
	idLength     = 16                                    // hexadecimal
	randomLength = 32                                    // octets, in base64url
	secretLength = len(Start) + idLength + len("_") + 43 // of the whole
)

// Bounds of tokens.
const (
	maxTokens   = 10_000
	maxOfRoot   = 2500 // tokens that one has made, with those that these have made: others are left their part
	maxName     = 200
	maxPrefixes = 1000
	maxOctets   = 32 << 10 // of the prefixes together
	dayOfUse    = time.DateOnly
)

// ErrUnknown means that there is no token of an ID.
var ErrUnknown = fmt.Errorf("%w: there is no such token", registry.ErrUnknown)

// Create creates a token of a name, role, prefixes, note and time at which it expires, and returns it with its
// secret. Only an Admin may, who may do itself what the token may.
func Create(ctx context.Context, r *registry.Registry, actor registry.Actor, t Token) (Token, string, error) {
	if err := mayManage(actor); err != nil {
		return Token{}, "", err
	}
	t.Created, t.By, t.Used = r.Now(), actor.Name, ""
	if err := check(r, &t); err != nil {
		return Token{}, "", err
	}
	if !actor.Holds(t.Actor()) {
		return Token{}, "", &registry.Error{
			Class: registry.ErrDenied, Code: "token_more_rights", Field: "prefixes",
			Reason: fmt.Errorf("%s may not give what it may not do itself: the token needs prefixes and actions that it has", actor.Name),
		}
	}
	var octets [idLength/2 + randomLength]byte
	_, _ = rand.Read(octets[:]) // it never fails
	t.ID = hex.EncodeToString(octets[:idLength/2])
	secret := Start + t.ID + "_" + base64.RawURLEncoding.EncodeToString(octets[idLength/2:])
	hash := sha256.Sum256([]byte(secret))
	err := r.Store().Write(ctx, func(tx registry.WriteTx) error {
		others, err := tx.Tokens()
		if err != nil {
			return err
		}
		if len(others) >= maxTokens {
			return registry.Invalid("too_many_tokens", "", "there are %d tokens already; revoke some", maxTokens)
		}
		if err := mayBeCalled(t.Name, actor, others); err != nil {
			return err
		}
		root, err := rootOf(actor, others)
		if err != nil {
			return err
		}
		return tx.AddToken(registry.StoredToken{Token: t, Hash: hash[:], Root: root})
	})
	if err != nil {
		return Token{}, "", fmt.Errorf("creating a token: %w", err)
	}
	return t, secret, nil
}

// mayBeCalled returns ErrDenied where a token would have the name of somebody whom the actor who makes it may not stand for: the history of a
// name has the names of tokens.
func mayBeCalled(name string, actor registry.Actor, others []registry.StoredToken) error {
	for _, other := range others {
		if sameName(other.Name, name) && !actor.Holds(other.Rights()) {
			return &registry.Error{
				Class: registry.ErrDenied, Code: "token_name_taken", Field: "name", Values: []string{"Name", name},
				Reason: fmt.Errorf("there is somebody else whose name is %q; give the token another one", name),
			}
		}
	}
	return nil
}

// rootOf returns the token from which one descends that an actor makes, "" for none; ErrInvalid where that has too many.
func rootOf(actor registry.Actor, others []registry.StoredToken) (root string, err error) {
	if actor.Token == "" {
		return "", nil
	}
	root = actor.Token
	if i := slices.IndexFunc(others, func(t registry.StoredToken) bool { return t.ID == actor.Token }); i >= 0 {
		root = cmp.Or(others[i].Root, root)
	}
	n := 0
	for _, other := range others {
		if other.Root == root {
			n++
		}
	}
	if n >= maxOfRoot {
		return "", registry.Invalid("too_many_tokens", "", "there are %d tokens already that descend from one; revoke some", n)
	}
	return root, nil
}

// mayManage returns ErrDenied unless an actor may manage tokens.
func mayManage(a registry.Actor) error {
	if a.Role < registry.Admin || a.Does(registry.ActTokens) != nil {
		return fmt.Errorf("%w: %s may not manage tokens", registry.ErrDenied, a.Name)
	}
	return nil
}

func check(r *registry.Registry, t *Token) error {
	switch {
	case t.Role < registry.Reader || t.Role > registry.Admin:
		return registry.Invalid("token_role", "role", "a token has a role: reader, writer or admin")
	case len(t.Prefixes) > maxPrefixes:
		return registry.Invalid("token_prefixes_long", "prefixes", "a token has at most %d prefixes", maxPrefixes)
	case !t.Expires.IsZero() && !t.Expires.After(t.Created):
		return registry.Invalid("token_expired", "expires", "the token would have expired already")
	}
	for _, a := range t.Actions {
		if err := a.UnmarshalText([]byte(a)); err != nil {
			return err
		}
	}
	name, err := canonicalName(t.Name)
	if err != nil {
		return err
	}
	t.Name = name
	if err := registry.CheckText("note", t.Note, registry.MaxText); err != nil {
		return err
	}
	var prefixes []string // nil where there are none: the token is for all names
	octets := 0
	for _, text := range t.Prefixes {
		prefix, err := r.CanonicalPrefix(text)
		if err != nil {
			return err
		}
		if octets += len(prefix); octets > maxOctets {
			return registry.Invalid("token_prefixes_long", "prefixes", "the prefixes of a token have at most %d octets together", maxOctets)
		}
		if !slices.Contains(prefixes, prefix) {
			prefixes = append(prefixes, prefix)
		}
	}
	t.Prefixes = prefixes
	return nil
}

// list returns all tokens, in the order of their IDs.
func list(ctx context.Context, r *registry.Registry) (all []registry.StoredToken, err error) {
	err = r.Store().Read(ctx, func(tx registry.Tx) error {
		all, err = tx.Tokens()
		return err
	})
	return all, err
}

// Revoke revokes a token, and returns it: ErrUnknown if there is none.
func Revoke(ctx context.Context, r *registry.Registry, actor registry.Actor, id string) (revoked Token, err error) {
	if err := mayManage(actor); err != nil {
		return Token{}, err
	}
	err = r.Store().Write(ctx, func(tx registry.WriteTx) error {
		t, err := read(tx, id)
		if err != nil && t.Damaged == nil {
			return err
		}
		if !actor.Holds(t.Rights()) {
			return fmt.Errorf("%w: %s may not revoke the token %s", registry.ErrDenied, actor.Name, id)
		}
		revoked = t.Token
		return tx.RemoveToken(id)
	})
	return revoked, err
}

// ofProof returns the token of a proof, as the store has it now; registry.ErrToken if it is not valid.
func ofProof(ctx context.Context, r *registry.Registry, p Proof) (found Token, err error) {
	err = r.Store().Read(ctx, func(tx registry.Tx) error {
		t, err := read(tx, p.ID)
		if errors.Is(err, ErrUnknown) {
			return registry.ErrToken
		}
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare(p.Hash[:], t.Hash) != 1 || !t.ValidAt(r.Now()) {
			return registry.ErrToken
		}
		found = t.Token
		return nil
	})
	return found, err
}

// Valid reports whether the token of an ID is valid at a time.
func Valid(tx registry.Tx, id string, now time.Time) (bool, error) {
	t, err := read(tx, id)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	return err == nil && t.ValidAt(now), err
}

// Proof is what shows that somebody has had the secret of a token, without the secret.
type Proof struct {
	ID   string
	Hash [sha256.Size]byte // of the secret
}

// ProofOf returns the proof of a secret; ok is false for what does not look like one, of which it has the hash alone.
func ProofOf(secret string) (p Proof, ok bool) {
	id, ok := idOf(secret)
	return Proof{id, sha256.Sum256([]byte(secret))}, ok
}

// idOf returns the ID in a secret, and whether it looks like one at all.
func idOf(secret string) (string, bool) {
	rest, ok := strings.CutPrefix(secret, Start)
	if !ok || len(secret) != secretLength || rest[idLength] != '_' || strings.Trim(rest[:idLength], "0123456789abcdef") != "" {
		return "", false
	}
	return rest[:idLength], true
}

// read reads the token of an ID; ErrUnknown if there is none, and why if it is damaged.
func read(tx registry.Tx, id string) (registry.StoredToken, error) {
	t, err := tx.Token(id)
	if err == nil && t.ID == "" {
		err = fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	if err == nil {
		err = t.Damaged
	}
	return t, err
}
