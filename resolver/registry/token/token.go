// Package token creates, lists, revokes and verifies the bearer tokens by which clients of the API read and
// change a registry. The secret of a token enters, and the registry.Actor that it authorizes leaves; the
// store only has a SHA-256 hash of the secret. Secrets are sent as bearer tokens (RFC 6750), and the names of
// tokens follow UTS 39.
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

// Token is an alias of registry.Token.
type Token = registry.Token

// SecretPrefix is the prefix of every secret, by which scanners find leaked secrets.
const SecretPrefix = "urnd_"

// PublicLength is the length of the public part of a secret: SecretPrefix and the identifier.
const PublicLength = len(SecretPrefix) + idLength

// The lengths of the parts of a secret: "urnd_ID_RANDOM".
const (
	idLength     = 16                                           // hexadecimal digits
	randomLength = 32                                           // bytes, encoded in base64url
	secretLength = len(SecretPrefix) + idLength + len("_") + 43 // of the whole secret
)

// Limits of tokens.
const (
	maxTokens   = 10_000
	maxOfRoot   = 2500 // descendants of one token, direct and indirect: a quota that leaves room for others
	maxName     = 200
	maxPrefixes = 1000
	maxBytes    = 32 << 10 // of all prefixes of a token
	dayOfUse    = time.DateOnly
)

// ErrUnknown means that there is no token with an ID.
var ErrUnknown = fmt.Errorf("%w: no such token", registry.ErrUnknown)

// Create creates a token with a name, role, prefixes, actions, note and time of expiry, and returns it with
// its secret. It requires an Admin who has all permissions of the new token, which ends with the token of the Admin at
// the latest.
func Create(ctx context.Context, r *registry.Registry, actor registry.Actor, t Token) (Token, string, error) {
	if err := mayManage(actor); err != nil {
		return Token{}, "", err
	}
	t.Created, t.By, t.Used = r.Now(), actor.Name, ""
	if err := check(r, &t); err != nil {
		return Token{}, "", err
	}
	if !actor.Includes(t.Actor()) {
		return Token{}, "", &registry.Error{
			Class: registry.ErrDenied, Code: "token_more_rights", Field: "prefixes",
			Reason: fmt.Errorf("%s may not grant more than its own permissions: limit the token to its own prefixes "+
				"and actions", actor.Name),
		}
	}
	var byteCount [idLength/2 + randomLength]byte
	_, _ = rand.Read(byteCount[:]) // never fails
	t.ID = hex.EncodeToString(byteCount[:idLength/2])
	secret := SecretPrefix + t.ID + "_" + base64.RawURLEncoding.EncodeToString(byteCount[idLength/2:])
	hash := sha256.Sum256([]byte(secret))
	err := r.Store().Write(ctx, func(tx registry.WriteTx) error {
		others, err := tx.Tokens()
		if err != nil {
			return err
		}
		if len(others) >= maxTokens {
			return registry.Invalid("too_many_tokens", "", "limit of %d tokens reached: revoke some", maxTokens)
		}
		if err := checkNameUse(t.Name, actor, others); err != nil {
			return err
		}
		root, err := rootOf(actor, others)
		if err != nil {
			return err
		}
		t.Expires = boundedBy(actor, others, t.Expires)
		return tx.AddToken(registry.StoredToken{Token: t, Hash: hash[:], Root: root})
	})
	if err != nil {
		return Token{}, "", fmt.Errorf("creating a token: %w", err)
	}
	return t, secret, nil
}

// checkNameUse returns ErrDenied if another token with the same name has permissions that the actor lacks: the
// history of names identifies authors by the names of tokens.
func checkNameUse(name string, actor registry.Actor, others []registry.StoredToken) error {
	for _, other := range others {
		if sameName(other.Name, name) && !actor.Includes(other.Rights()) {
			return &registry.Error{
				Class: registry.ErrDenied, Code: "token_name_taken", Field: "name", Values: []string{"Name", name},
				Reason: fmt.Errorf("the name %q is in use by somebody else: choose another name", name),
			}
		}
	}
	return nil
}

// rootOf returns the root of the tokens that an actor creates, "" for none; ErrInvalid if the root has too
// many descendants.
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
		return "", registry.Invalid("too_many_tokens", "",
			"limit of %d descendants of one token reached: revoke some", n)
	}
	return root, nil
}

// boundedBy returns a time of expiry, or that of the token of an actor if it is earlier: else a token could outlive its
// end by tokens that it has made. The zero value is no end.
func boundedBy(actor registry.Actor, others []registry.StoredToken, expires time.Time) time.Time {
	i := slices.IndexFunc(others, func(t registry.StoredToken) bool { return actor.Token != "" && t.ID == actor.Token })
	if i < 0 || others[i].Expires.IsZero() || !expires.IsZero() && expires.Before(others[i].Expires) {
		return expires
	}
	return others[i].Expires
}

// mayManage returns ErrDenied unless an actor may manage tokens.
func mayManage(a registry.Actor) error {
	if a.Role < registry.Admin || a.CheckAction(registry.ActTokens) != nil {
		return fmt.Errorf("%w: %s may not manage tokens", registry.ErrDenied, a.Name)
	}
	return nil
}

func check(r *registry.Registry, t *Token) error {
	switch {
	case t.Role < registry.Reader || t.Role > registry.Admin:
		return registry.Invalid("token_role", "role", "role missing or invalid: use reader, writer or admin")
	case len(t.Prefixes) > maxPrefixes:
		return registry.Invalid("token_prefixes_long", "prefixes", "more than %d prefixes", maxPrefixes)
	case !t.Expires.IsZero() && !t.Expires.After(t.Created):
		return registry.Invalid("token_expired", "expires", "expiry is in the past")
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
	if err := registry.CheckTime("expires", t.Expires); err != nil {
		return err
	}
	var prefixes []string // nil without prefixes: the token is valid for all names
	size := 0
	for _, text := range t.Prefixes {
		prefix, err := r.CanonicalPrefix(text)
		if err != nil {
			return err
		}
		if size += len(prefix); size > maxBytes {
			return registry.Invalid("token_prefixes_long", "prefixes", "prefixes exceed %d bytes in total", maxBytes)
		}
		if !slices.Contains(prefixes, prefix) {
			prefixes = append(prefixes, prefix)
		}
	}
	t.Prefixes = prefixes
	return nil
}

// list returns all tokens, ordered by ID.
func list(ctx context.Context, r *registry.Registry) (all []registry.StoredToken, err error) {
	err = r.Store().Read(ctx, func(tx registry.Tx) error {
		all, err = tx.Tokens()
		return err
	})
	return all, err
}

// Revoke revokes a token, and returns it. It returns ErrUnknown if there is no such token.
func Revoke(ctx context.Context, r *registry.Registry, actor registry.Actor, id string) (revoked Token, err error) {
	if err := mayManage(actor); err != nil {
		return Token{}, err
	}
	err = r.Store().Write(ctx, func(tx registry.WriteTx) error {
		t, err := read(tx, id)
		if err != nil && t.Damaged == nil {
			return err
		}
		if !actor.Includes(t.Rights()) {
			return fmt.Errorf("%w: %s may not revoke the token %s", registry.ErrDenied, actor.Name, id)
		}
		revoked = t.Token
		return tx.RemoveToken(id)
	})
	return revoked, err
}

// ofProof reads the token of a proof from the store; registry.ErrInvalidToken if it is not valid.
func ofProof(ctx context.Context, r *registry.Registry, p Proof) (found Token, err error) {
	err = r.Store().Read(ctx, func(tx registry.Tx) error {
		t, err := read(tx, p.ID)
		if errors.Is(err, ErrUnknown) {
			return registry.ErrInvalidToken
		}
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare(p.Hash[:], t.Hash) != 1 || !t.ValidAt(r.Now()) {
			return registry.ErrInvalidToken
		}
		found = t.Token
		return nil
	})
	return found, err
}

// Valid reports whether the token with an ID is valid at a time.
func Valid(tx registry.Tx, id string, now time.Time) (bool, error) {
	t, err := read(tx, id)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	return err == nil && t.ValidAt(now), err
}

// Proof proves knowledge of the secret of a token, without containing the secret.
type Proof struct {
	ID   string
	Hash [sha256.Size]byte // of the secret
}

// ProofOf returns the proof of a secret. ok is false if the secret is malformed; then the proof has only the
// hash.
func ProofOf(secret string) (p Proof, ok bool) {
	id, ok := idOf(secret)
	return Proof{id, sha256.Sum256([]byte(secret))}, ok
}

// idOf returns the ID in a secret; the result is false if the secret is malformed.
func idOf(secret string) (string, bool) {
	rest, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok || len(secret) != secretLength || rest[idLength] != '_' ||
		strings.Trim(rest[:idLength], "0123456789abcdef") != "" {
		return "", false
	}
	return rest[:idLength], true
}

// read reads the token with an ID; ErrUnknown if there is none, and the reason if it is damaged.
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
