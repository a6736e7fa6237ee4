package browse

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// A list goes on after a name. That of a search which ended because of its time may be one that the reader may not know of: it is sealed then,
// by a key of this process, which outlives reloads, and tells nobody what it is, nor how long, more than in steps.

// sealed is what a sealed name begins with: no name does.
const sealed = "."

// sealedStep is what the length of a sealed name is a multiple of.
const sealedStep = 128

// NewSeal returns what seals names, with a key of its own.
func NewSeal() (cipher.AEAD, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("sealing positions of lists: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// next returns where a search goes on that has ended early.
func (b *Browser) next(done registry.Searched, isAll bool) string {
	if isAll || done.LastIsOpen {
		return done.Last
	}
	text := done.Last + strings.Repeat("\x00", sealedStep-len(done.Last)%sealedStep)
	return sealed + base64.RawURLEncoding.EncodeToString(b.config.Seal.Seal(nil, nil, []byte(text), nil)) //nolint:gosec // it has a nonce of its own
}

// position returns the name after which a list goes on. The error is resolver.ErrCursor.
func (b *Browser) position(cursor string) (string, error) {
	text, is := strings.CutPrefix(cursor, sealed)
	if !is {
		isName := len(cursor) <= registry.MaxName && utf8.ValidString(cursor) && !strings.ContainsFunc(cursor, unicode.IsControl)
		if !isName || cursor != "" && !strings.Contains(cursor, ":") {
			return "", resolver.ErrCursor
		}
		return cursor, nil
	}
	octets, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", resolver.ErrCursor
	}
	name, err := b.config.Seal.Open(nil, nil, octets, nil)
	if err != nil {
		return "", resolver.ErrCursor
	}
	return strings.TrimRight(string(name), "\x00"), nil
}
