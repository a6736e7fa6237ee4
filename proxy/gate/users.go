package gate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/internal/quota"
)

// Users are the users of a password file of htpasswd -B. They are safe for concurrent use.
type Users struct {
	hashes  map[string][]byte
	dummies [][]byte                        // hashes to compare with for unknown users
	running quota.Semaphore                 // limits comparisons: they must not take all processors
	queues  quota.Queues[[sha256.Size]byte] // serialize comparisons by password, by name and by client

	mu    sync.Mutex
	right map[[sha256.Size]byte]bool // hashes of correct names and passwords: bcrypt is slow by design
	wrong map[[sha256.Size]byte]bool // hashes of clients with wrong names and passwords
}

// Limits of Users. The number of waiting comparisons has none here: each belongs to a request, and those are
// limited by limits.connections, limits.client_connections and the streams of HTTP/2.
const (
	maxRight = 10_000
	maxWrong = 1000
)

var errNoUsers = errors.New("the file has no users, so no login could succeed: add one (htpasswd -B -C 12 FILE NAME)")

// ParseUsers parses a password file. A file without users is an error, and so are hashes other than bcrypt,
// which are not secure.
func ParseUsers(text []byte) (*Users, error) {
	u := &Users{
		hashes: make(map[string][]byte),
		right:  make(map[[sha256.Size]byte]bool), wrong: make(map[[sha256.Size]byte]bool),
		running: make(quota.Semaphore, max(1, runtime.GOMAXPROCS(0)/2)),
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("line %d: not a user, a colon and a hash", n)
		}
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return nil, fmt.Errorf("line %d: the hash of user %q is not bcrypt (use htpasswd -B): %w", n, name, err)
		}
		u.hashes[name] = []byte(hash)
		u.dummies = append(u.dummies, []byte(hash))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading users: %w", err)
	}
	if len(u.hashes) == 0 {
		return nil, errNoUsers
	}
	return u, nil
}

// Check reports whether a user has this password. It takes as long for an unknown user, whose name selects
// one of the hashes: they may differ in their cost. Guesses of others never cause a denial: comparisons wait.
// Each client has one comparison at a time, and clients alternate, as do the names of a client, of which all
// unknown ones count as one. So a first login waits for one comparison for each other name that its client
// tries, and with each of these for one comparison of each other client. An error means that ctx has ended.
func (u *Users) Check(ctx context.Context, client netip.Addr, name, password string) (bool, error) {
	address := quota.Network(client).String()
	right, wrong := keyOf(name, password), keyOf(address, name, password)
	if isRight, known := u.compared(right, wrong); known {
		return isRight, nil
	}
	release, err := u.queues.Acquire(ctx, wrong)
	if err != nil {
		return false, err
	}
	defer release()
	if isRight, known := u.compared(right, wrong); known { // another request with the same password has just finished
		return isRight, nil
	}
	hash, ok := u.hashes[name]
	queued := name
	if !ok && len(u.dummies) > 0 {
		of := sha256.Sum256([]byte(name))
		hash = u.dummies[int(binary.BigEndian.Uint16(of[:]))%len(u.dummies)]
		queued = "" // all unknown names share a queue
	}
	// One comparison of each name waits for its client, and one of each client for a processor: so they alternate.
	for _, key := range [...][sha256.Size]byte{keyOf(address, queued), keyOf(address)} {
		release, err := u.queues.Acquire(ctx, key)
		if err != nil {
			return false, err
		}
		defer release()
	}
	if err := u.running.Acquire(ctx); err != nil {
		return false, err
	}
	defer u.running.Release()
	if isRight, known := u.compared(right, wrong); known { // another client's request has finished
		return isRight, nil
	}
	isRight := bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil && ok
	u.mu.Lock()
	defer u.mu.Unlock()
	if isRight {
		remember(u.right, maxRight, right)
	} else {
		remember(u.wrong, maxWrong, wrong)
	}
	return isRight, nil
}

// Login implements Logins.
func (u *Users) Login(
	ctx context.Context, client netip.Addr, name, password string,
) (user string, right bool, err error) {
	right, err = u.Check(ctx, client, name, password)
	return name, right, err
}

// compared returns the remembered outcome of a comparison with the same password, if there is one. A wrong
// password is remembered for its client only: otherwise others could learn by timing what was mistyped.
func (u *Users) compared(right, wrong [sha256.Size]byte) (isRight, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	isRight = u.right[right]
	return isRight, isRight || u.wrong[wrong]
}

// remember adds a key, and replaces an arbitrary one if there are too many.
func remember(keys map[[sha256.Size]byte]bool, most int, key [sha256.Size]byte) {
	if len(keys) >= most {
		for other := range keys {
			delete(keys, other)
			break
		}
	}
	keys[key] = true
}

// keyOf returns a hash of the texts that is unique: it includes their lengths.
func keyOf(texts ...string) [sha256.Size]byte {
	var all []byte
	for _, text := range texts {
		all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
	}
	return sha256.Sum256(all)
}
