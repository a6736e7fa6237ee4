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

	"github.com/urnd/urnd/resolver"
)

// Users are the users of a password file of htpasswd -B. They are safe for concurrent use.
type Users struct {
	hashes  map[string][]byte
	dummies [][]byte       // compared with for unknown users
	running resolver.Slots // one for each running comparison: they must not take all processors
	waiting resolver.Quota // one for each comparison that runs or waits

	mu    sync.Mutex
	right map[[sha256.Size]byte]bool // hashes of names and passwords that were right: bcrypt is slow on purpose
	wrong map[[sha256.Size]byte]bool // hashes of clients, names and passwords that were wrong
	turns map[netip.Addr]*turn       // of clients with a comparison that runs or waits
}

// turn lets the comparisons of one client run one after another, in the order in which they came.
type turn struct {
	slot  resolver.Slots
	users int // comparisons that have it or wait for it
}

// Bounds of Users.
const (
	maxRight       = 10_000
	maxWrong       = 1000
	maxWaiting     = 256 // comparisons
	clientWaiting  = 32  // of them, of one client
	networkWaiting = 64  // of them, of a /64 network of IPv6
)

// errPasswords means that too many passwords are being checked, by guesses most likely.
var errPasswords = fmt.Errorf("%w: too many passwords are being checked", resolver.ErrBusy)

var errNoUsers = errors.New("there is no user, so that nobody could log in: add one (htpasswd -B FILE NAME)")

// ParseUsers parses a password file. One without users is an error, and so are hashes other than bcrypt: they are not
// secure.
func ParseUsers(text []byte) (*Users, error) {
	u := &Users{
		hashes: make(map[string][]byte), turns: make(map[netip.Addr]*turn),
		right: make(map[[sha256.Size]byte]bool), wrong: make(map[[sha256.Size]byte]bool),
		running: make(resolver.Slots, max(1, runtime.GOMAXPROCS(0)/2)),
		waiting: resolver.Quota{
			Slots:  make(resolver.Slots, maxWaiting),
			Shares: resolver.NewShares(clientWaiting, networkWaiting, errPasswords), Busy: errPasswords,
		},
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
	if len(u.hashes) == 0 {
		return nil, errNoUsers
	}
	return u, nil
}

// Check reports whether a user has this password. It takes as long for an unknown user, whose name selects one of
// the hashes: they may differ in their cost. The passwords of one client are compared one after another, so that
// one that guesses, which is never locked out, leaves time to the others. The error is that too many passwords are
// being checked, or that ctx has ended.
func (u *Users) Check(ctx context.Context, client netip.Addr, name, password string) (bool, error) {
	network := resolver.ClientAddress(client)
	right, wrong := keyOf(name, password), keyOf(network.String(), name, password)
	if isRight, known := u.compared(right, wrong); known {
		return isRight, nil
	}
	release, err := u.acquire(ctx, client, network)
	if err != nil {
		return false, err
	}
	defer release()
	if isRight, known := u.compared(right, wrong); known { // meanwhile
		return isRight, nil
	}
	hash, ok := u.hashes[name]
	if !ok && len(u.dummies) > 0 {
		of := sha256.Sum256([]byte(name))
		hash = u.dummies[int(binary.BigEndian.Uint16(of[:]))%len(u.dummies)]
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

// compared returns the outcome of a comparison with the same password, if one is remembered. That of a wrong one is
// remembered for its client alone: others could learn by the time what was mistyped.
func (u *Users) compared(right, wrong [sha256.Size]byte) (isRight, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	isRight = u.right[right]
	return isRight, isRight || u.wrong[wrong]
}

// remember adds a key, in place of any other one where there are too many.
func remember(keys map[[sha256.Size]byte]bool, most int, key [sha256.Size]byte) {
	if len(keys) >= most {
		for other := range keys {
			delete(keys, other)
			break
		}
	}
	keys[key] = true
}

func keyOf(texts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(texts, "\x00")))
}

// acquire waits until a password of a client may be compared, after those of its network that came before. The
// caller must call release once, unless there is an error.
func (u *Users) acquire(ctx context.Context, client, network netip.Addr) (release func(), err error) {
	waiting, err := u.waiting.Hold(client)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	own := u.turns[network]
	if own == nil {
		own = &turn{slot: make(resolver.Slots, 1)}
		u.turns[network] = own
	}
	own.users++
	u.mu.Unlock()
	leave := func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(u.turns, network)
		}
		waiting.Release()
	}
	if err := own.slot.Acquire(ctx); err != nil {
		leave()
		return nil, err
	}
	if err := u.running.Acquire(ctx); err != nil {
		own.slot.Release()
		leave()
		return nil, err
	}
	return func() {
		u.running.Release()
		own.slot.Release()
		leave()
	}, nil
}
