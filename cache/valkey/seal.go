package valkey

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// The format versions at the server. Each version has its own keys, so that several coexist while instances are
// upgraded; log entries are readable by all instances that know their version.
const (
	entryFormat = "urnd entry 1"
	logFormat   = "urnd log 1"
)

// sealer derives keys of the server, and seals values: without the secret, names and values can neither be read nor
// forged.
type sealer struct {
	names  []byte      // the HMAC key for server keys
	aead   cipher.AEAD // XChaCha20-Poly1305, whose nonces are long enough to be random
	prefix string      // with a hash tag, so that all keys are in one cluster slot, as scripts require
}

var errShortSecret = fmt.Errorf("secret shorter than %d bytes", MinSecret)

func newSealer(secret []byte, prefix string) (sealer, error) {
	if len(secret) < MinSecret {
		return sealer{}, errShortSecret
	}
	aead, err := chacha20poly1305.NewX(sum(secret, "urnd shared cache: entries"))
	if err != nil {
		return sealer{}, fmt.Errorf("deriving a key from the secret: %w", err)
	}
	return sealer{sum(secret, "urnd shared cache: keys"), aead, "{" + prefix + "}:"}, nil
}

// sum returns the HMAC-SHA-256 of texts, which must not contain a NUL byte.
func sum(key []byte, texts ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		mac.Write([]byte(text))
		mac.Write([]byte{0})
	}
	return mac.Sum(nil)
}

// key returns the server's key for an item of a cache: a hash, because names and URLs may contain secrets.
func (s sealer) key(texts ...string) string {
	const enough = 16
	return s.prefix + base64.RawURLEncoding.EncodeToString(sum(s.names, texts...)[:enough])
}

// seal encrypts a text and binds it to a place, such as a key: it opens only for that place. The result ends
// with the tag.
func (s sealer) seal(text []byte, place string) []byte {
	nonce := make([]byte, chacha20poly1305.NonceSizeX, chacha20poly1305.NonceSizeX+len(text)+chacha20poly1305.Overhead)
	_, _ = rand.Read(nonce) // never fails
	return s.aead.Seal(nonce, nonce, text, []byte(place))
}

// errForeign means that a value was not sealed by an instance for this place.
var errForeign = errors.New("not written by an instance with this secret")

func (s sealer) open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) < chacha20poly1305.NonceSizeX+chacha20poly1305.Overhead {
		return nil, errForeign
	}
	nonce, text := sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:]
	opened, err := s.aead.Open(nil, nonce, text, []byte(place))
	if err != nil {
		return nil, errForeign
	}
	return opened, nil
}

// tagOf returns the tag at the end of a sealed text, which identifies it.
func tagOf(sealed string) string { return sealed[max(len(sealed)-chacha20poly1305.Overhead, 0):] }
