package gate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/resolver"
)

// Users are the users of a password file of htpasswd -B. They are safe for concurrent use.
type Users struct {
	hashes  map[string][]byte
	dummies [][]byte       // compared with for unknown users
	slots   resolver.Slots // one for each running comparison: they must not take all processors
	waiting resolver.Slots // one for each comparison that runs or waits

	mu       sync.Mutex
	verified map[[sha256.Size]byte]bool // hashes of names and passwords that were right: bcrypt is slow on purpose
}

// maxVerified bounds the remembered passwords, and maxWaiting the comparisons that wait.
const (
	maxVerified = 10_000
	maxWaiting  = 16
)

// errPasswords means that too many passwords are being checked, by guesses most likely.
var errPasswords = fmt.Errorf("%w: too many passwords are being checked", resolver.ErrBusy)

// ParseUsers parses a password file. Hashes other than bcrypt are errors: they are not
// secure.
func ParseUsers(text []byte) (*Users, error) {
	u := &Users{
		hashes: make(map[string][]byte), verified: make(map[[sha256.Size]byte]bool),
		slots: make(resolver.Slots, max(1, runtime.GOMAXPROCS(0)/2)), waiting: make(resolver.Slots, maxWaiting),
	}
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
		u.dummies = append(u.dummies, []byte(hash))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading users: %w", err)
	}
	return u, nil
}

// Check reports whether a user has this password. It takes as long for an unknown user, whose
// name selects one of the hashes: they may differ in their cost. The error is that too many
// passwords are being checked, or that ctx has ended.
func (u *Users) Check(ctx context.Context, name, password string) (bool, error) {
	if u.knows(name, password) {
		return true, nil
	}
	hash, ok := u.hashes[name]
	if !ok && len(u.dummies) > 0 {
		of := sha256.Sum256([]byte(name))
		hash = u.dummies[int(binary.BigEndian.Uint16(of[:]))%len(u.dummies)]
	}
	right, err := u.compare(ctx, hash, password)
	if err != nil || !right || !ok {
		return false, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.verified) == maxVerified {
		clear(u.verified)
	}
	u.verified[keyOf(name, password)] = true
	return true, nil
}

// knows reports whether a user has this password, and was checked with it before: it costs nothing.
func (u *Users) knows(name, password string) bool {
	key := keyOf(name, password)
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.verified[key]
}

func keyOf(name, password string) [sha256.Size]byte {
	return sha256.Sum256([]byte(name + "\x00" + password))
}

// compare reports whether a hash is that of a password. Few are compared at a time, and few wait.
func (u *Users) compare(ctx context.Context, hash []byte, password string) (bool, error) {
	if !u.waiting.TryAcquire() {
		return false, errPasswords
	}
	defer u.waiting.Release()
	if err := u.slots.Acquire(ctx); err != nil {
		return false, err
	}
	defer u.slots.Release()
	return bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil, nil
}
