package proxy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// Users are the users of a password file of htpasswd -B. They are safe for concurrent use.
type Users struct {
	hashes map[string][]byte
	dummy  []byte        // compared with for unknown users
	slots  chan struct{} // one for each running comparison: they must not take all processors

	mu       sync.Mutex
	verified map[[sha256.Size]byte]bool // hashes of names and passwords that were right: bcrypt is slow on purpose
}

// maxVerified bounds the remembered passwords.
const maxVerified = 10_000

// ParseUsers parses a password file. Hashes other than bcrypt are errors: they are not
// secure.
func ParseUsers(text []byte) (*Users, error) {
	u := &Users{hashes: make(map[string][]byte), verified: make(map[[sha256.Size]byte]bool), slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("line %d is not a user, a colon and a hash", n)
		}
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return nil, fmt.Errorf("line %d: the hash of %q is not of bcrypt (htpasswd -B): %w", n, name, err)
		}
		u.hashes[name] = []byte(hash)
		u.dummy = []byte(hash)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading users: %w", err)
	}
	return u, nil
}

// Check reports whether a user has this password. It takes as long for an unknown user.
func (u *Users) Check(name, password string) bool {
	hash, ok := u.hashes[name]
	if !ok {
		hash = u.dummy
	}
	key := sha256.Sum256([]byte(name + "\x00" + password))
	u.mu.Lock()
	verified := u.verified[key]
	u.mu.Unlock()
	if verified {
		return true
	}
	u.slots <- struct{}{}
	err := bcrypt.CompareHashAndPassword(hash, []byte(password))
	<-u.slots
	if err != nil || !ok {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.verified) == maxVerified {
		clear(u.verified)
	}
	u.verified[key] = true
	return true
}
