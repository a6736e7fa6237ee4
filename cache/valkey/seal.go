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

// The versions of what the server holds. Another version has other keys, so that both are side by side while instances are
// upgraded; entries of the log are read by all who know its version.
const (
	entryFormat = "urnd entry 1"
	logFormat   = "urnd log 1"
)

// sealer names keys of the server, and seals what it holds: who has no secret learns neither names nor answers, and can
// make none.
type sealer struct {
	names  []byte      // the key of the hash of keys
	aead   cipher.AEAD // XChaCha20-Poly1305, whose nonces are long enough to be random
	prefix string      // with a hash tag: all keys are in one slot of a cluster, as scripts need them together
}

var errShortSecret = fmt.Errorf("the secret is shorter than %d octets", MinSecret)

func newSealer(secret []byte, prefix string) (sealer, error) {
	if len(secret) < MinSecret {
		return sealer{}, errShortSecret
	}
	aead, err := chacha20poly1305.NewX(sum(secret, "urnd shared cache: entries"))
	if err != nil {
		return sealer{}, fmt.Errorf("making a key of the secret: %w", err)
	}
	return sealer{sum(secret, "urnd shared cache: keys"), aead, "{" + prefix + "}:"}, nil
}

// sum returns the HMAC-SHA-256 of texts, which have no octet 0.
func sum(key []byte, texts ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		mac.Write([]byte(text))
		mac.Write([]byte{0})
	}
	return mac.Sum(nil)
}

// key returns the key at the server for something of a cache: a hash, since names and URLs may have secrets in them.
func (s sealer) key(texts ...string) string {
	const enough = 16
	return s.prefix + base64.RawURLEncoding.EncodeToString(sum(s.names, texts...)[:enough])
}

// seal encrypts a text for a place, such as a key: it can be opened for that alone. It ends with the tag.
func (s sealer) seal(text []byte, place string) []byte {
	nonce := make([]byte, chacha20poly1305.NonceSizeX, chacha20poly1305.NonceSizeX+len(text)+chacha20poly1305.Overhead)
	_, _ = rand.Read(nonce) // it never fails
	return s.aead.Seal(nonce, nonce, text, []byte(place))
}

// errForeign means that something was not sealed by an instance for the place where it is.
var errForeign = errors.New("it was not written by an instance with this secret")

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

// tagOf returns the end of a sealed text, which tells it from all others.
func tagOf(sealed string) string { return sealed[max(len(sealed)-chacha20poly1305.Overhead, 0):] }
