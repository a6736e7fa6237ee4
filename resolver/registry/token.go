package registry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Token lets a client read or change entries by the API. Its secret is shown once, and
// is not stored: a hash of it is.
type Token struct {
	ID       string    `json:"id"` // it is no secret
	Name     string    `json:"name"`
	Role     Role      `json:"role"`
	Prefixes []string  `json:"prefixes,omitempty"` // what names begin with that it is for; nil is all
	Note     string    `json:"note,omitempty"`
	Created  time.Time `json:"created"`
	By       string    `json:"by"`
	Expires  time.Time `json:"expires,omitzero"` // it is not valid then any more; the zero value is never
	Used     string    `json:"used,omitempty"`   // the day of its last use, "2031-05-01"
}

// storedToken is a Token as it is stored.
type storedToken struct {
	Token
	Hash []byte `json:"hash"` // SHA-256 of the secret, which has 256 random bits: nobody can try them all
}

// Actor returns who uses the token.
func (t Token) Actor() Actor {
	return Actor{Name: t.Name, Role: t.Role, Prefixes: t.Prefixes, Token: t.ID}
}

// TokenStart is what the secret of each token begins with, so that programs which look for leaked secrets find it.
const TokenStart = "urnd_"

// TokenName is the length of what a secret begins with that is not secret: TokenStart and the identifier.
const TokenName = len(TokenStart) + tokenID

// The lengths of the parts of a secret: "urnd_ID_RANDOM".
const (
	tokenID     = 16                                        // hexadecimal
	tokenRandom = 32                                        // octets, in base64url
	tokenText   = len(TokenStart) + tokenID + len("_") + 43 // of the whole
)

// Bounds of tokens.
const (
	maxTokens    = 10_000
	maxTokenName = 200
	maxPrefixes  = 1000
	dayOfUse     = time.DateOnly
)

var (
	// ErrToken means that a secret is not that of a token that is valid.
	ErrToken = errors.New("the token is not valid, has expired or was revoked")
	// ErrUnknownToken means that there is no token of an ID.
	ErrUnknownToken = fmt.Errorf("%w: there is no such token", ErrUnknown)
)

// CreateToken creates a token of a name, role, prefixes, note and time at which it expires, and returns it with its
// secret. Only an Admin of all names may.
func (r *Registry) CreateToken(ctx context.Context, actor Actor, t Token) (Token, string, error) {
	if err := actor.mayManage(); err != nil {
		return Token{}, "", err
	}
	t.Created, t.By, t.Used = r.Now(), actor.Name, ""
	if err := r.checkToken(&t); err != nil {
		return Token{}, "", err
	}
	var octets [tokenID/2 + tokenRandom]byte
	_, _ = rand.Read(octets[:]) // it never fails
	t.ID = hex.EncodeToString(octets[:tokenID/2])
	secret := TokenStart + t.ID + "_" + base64.RawURLEncoding.EncodeToString(octets[tokenID/2:])
	hash := sha256.Sum256([]byte(secret))
	err := r.config.Store.Write(ctx, func(tx WriteTx) error {
		present, err := tx.Documents(TableTokens, "", "", maxTokens)
		if err != nil {
			return err
		}
		if len(present) >= maxTokens {
			return fmt.Errorf("%w: there are %d tokens already; revoke some", ErrInvalid, maxTokens)
		}
		return putToken(tx, storedToken{t, hash[:]})
	})
	if err != nil {
		return Token{}, "", fmt.Errorf("creating a token: %w", err)
	}
	return t, secret, nil
}

// mayManage returns ErrDenied unless an actor may manage tokens.
func (a Actor) mayManage() error {
	if a.Role < Admin || a.Prefixes != nil {
		return fmt.Errorf("%w: %s may not manage tokens", ErrDenied, a.Name)
	}
	return nil
}

func (r *Registry) checkToken(t *Token) error {
	switch {
	case t.Role < Reader || t.Role > Admin:
		return fmt.Errorf("%w: a token has a role: reader, writer or admin", ErrInvalid)
	case t.Name == "" || len(t.Name) > maxTokenName || strings.ContainsFunc(t.Name, isControl):
		return fmt.Errorf("%w: a token has a name of at most %d octets, without control characters", ErrInvalid, maxTokenName)
	case len(t.Prefixes) > maxPrefixes:
		return fmt.Errorf("%w: a token has at most %d prefixes", ErrInvalid, maxPrefixes)
	case !t.Expires.IsZero() && !t.Expires.After(t.Created):
		return fmt.Errorf("%w: the token would have expired already", ErrInvalid)
	}
	if err := checkText("note", t.Note, MaxText); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	var prefixes []string // nil where there are none: the token is for all names
	for _, text := range t.Prefixes {
		prefix, err := r.CanonicalPrefix(text)
		if err != nil {
			return err
		}
		prefixes = append(prefixes, prefix)
	}
	t.Prefixes = prefixes
	return nil
}

func isControl(c rune) bool {
	return c < ' ' || c == 0x7f || c == '\u2028' || c == '\u2029' || 0x80 <= c && c < 0xa0
}

// Tokens returns all tokens, in the order of their IDs.
func (r *Registry) Tokens(ctx context.Context) (tokens []Token, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		tokens = nil
		documents, err := tx.Documents(TableTokens, "", "", maxTokens)
		if err != nil {
			return err
		}
		for _, d := range documents {
			t, err := decodeToken(d.Value)
			if err != nil {
				return err
			}
			tokens = append(tokens, t.Token)
		}
		return nil
	})
	return tokens, err
}

// RevokeToken revokes a token, and returns it: ErrUnknownToken if there is none.
func (r *Registry) RevokeToken(ctx context.Context, actor Actor, id string) (revoked Token, err error) {
	if err := actor.mayManage(); err != nil {
		return Token{}, err
	}
	err = r.config.Store.Write(ctx, func(tx WriteTx) error {
		t, err := readToken(tx, id)
		if err != nil {
			return err
		}
		revoked = t.Token
		return tx.Put(TableTokens, []Document{{Key: id}})
	})
	return revoked, err
}

// Token returns the token of a secret, as the store has it now; ErrToken if it is not valid.
func (r *Registry) Token(ctx context.Context, secret string) (found Token, err error) {
	id, ok := tokenIDOf(secret)
	if !ok {
		return Token{}, ErrToken
	}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		t, err := readToken(tx, id)
		if errors.Is(err, ErrUnknownToken) {
			return ErrToken
		}
		if err != nil {
			return err
		}
		hash := sha256.Sum256([]byte(secret))
		if subtle.ConstantTimeCompare(hash[:], t.Hash) != 1 || !t.validAt(r.Now()) {
			return ErrToken
		}
		found = t.Token
		return nil
	})
	return found, err
}

// ValidToken reports whether a token of an ID is valid now.
func (r *Registry) ValidToken(tx Tx, id string) (bool, error) {
	t, err := readToken(tx, id)
	if errors.Is(err, ErrUnknownToken) {
		return false, nil
	}
	return err == nil && t.validAt(r.Now()), err
}

func (t Token) validAt(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// tokenIDOf returns the ID in a secret, and whether it looks like one at all.
func tokenIDOf(secret string) (string, bool) {
	rest, ok := strings.CutPrefix(secret, TokenStart)
	if !ok || len(secret) != tokenText || rest[tokenID] != '_' || strings.Trim(rest[:tokenID], "0123456789abcdef") != "" {
		return "", false
	}
	return rest[:tokenID], true
}

// readToken reads the token of an ID; ErrUnknownToken if there is none.
func readToken(tx Tx, id string) (storedToken, error) {
	if id == "" || strings.ContainsRune(id, 0) {
		return storedToken{}, ErrUnknownToken
	}
	value, err := tx.Document(TableTokens, id)
	if err != nil {
		return storedToken{}, err
	}
	if value == nil {
		return storedToken{}, fmt.Errorf("%w: %q", ErrUnknownToken, id)
	}
	return decodeToken(value)
}

func decodeToken(value []byte) (t storedToken, err error) {
	if err := json.Unmarshal(value, &t); err != nil {
		return t, fmt.Errorf("%w: reading a token: %w", ErrDamaged, err)
	}
	return t, nil
}

func putToken(tx WriteTx, t storedToken) error {
	value, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("writing a token: %w", err)
	}
	return tx.Put(TableTokens, []Document{{Key: t.ID, Value: value}})
}
