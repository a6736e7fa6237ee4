package gate

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/internal/quota"
)

// A right password waits for one comparison of each other client, and of each other name at its address,
// where all unknown names count as one, however many of them wait.
func TestTurns(t *testing.T) {
	const guesses = 40
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("alice:%s\nbob:%[1]s\n", hash)
	for name, tt := range map[string]struct {
		guess       func(i int) (client, name, password string)
		comparisons int // until bob has logged in
	}{
		"of one name": {func(i int) (string, string, string) { return "192.0.2.1", "alice", fmt.Sprint(i) }, 2},
		"of unknown names": {
			func(i int) (string, string, string) { return "192.0.2.1", fmt.Sprint("m", i), "wrong" },
			2,
		},
		"of both": {func(i int) (string, string, string) {
			return "192.0.2.1", []string{"alice", "m"}[i%2], fmt.Sprint(i)
		}, 3},
		"of ten addresses": {func(i int) (string, string, string) {
			return fmt.Sprint("192.0.2.", 10+i%10), "bob", fmt.Sprint(i)
		}, 11},
		"of one /64": {func(i int) (string, string, string) {
			return fmt.Sprintf("2001:db8::%x", i), "bob", fmt.Sprint(i)
		}, 2},
		"the same password": {func(int) (string, string, string) { return "192.0.2.1", "bob", "wrong" }, 2},
		"the right one":     {func(int) (string, string, string) { return "192.0.2.1", "bob", "right" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, err := ParseUsers([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				u.running = make(quota.Semaphore, 1)
				step := func() { // at least one comparison, which is already waiting
					u.running.Release()
					if err := u.running.Acquire(t.Context()); err != nil {
						t.Error(err)
					}
					synctest.Wait()
				}
				var told atomic.Int32
				check := func(client, name, password string) {
					if right, err := u.Check(t.Context(), netip.MustParseAddr(client), name,
						password); right != (password == "right") || err != nil {
						t.Errorf("%s with %s: %t, %v", name, password, right, err)
					}
					told.Add(1)
				}
				if err := u.running.Acquire(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i := range guesses {
					go check(tt.guess(i))
				}
				synctest.Wait()
				var isIn atomic.Bool
				go func() {
					check("192.0.2.1", "bob", "right")
					isIn.Store(true)
				}()
				synctest.Wait()
				for range tt.comparisons {
					step()
				}
				if !isIn.Load() {
					t.Errorf("bob waits for more than %d comparisons", tt.comparisons)
				}
				u.running.Release()
				synctest.Wait()
				if told.Load() != guesses+1 || u.queues.Len() != 0 {
					t.Errorf("%d were answered, and %d queues are left", told.Load(), u.queues.Len())
				}
			})
		})
	}
}

// Different lists of texts have different keys, even if their concatenation is equal.
func TestKeys(t *testing.T) {
	seen := make(map[[32]byte][]string)
	for _, texts := range [][]string{
		{},
		{""},
		{"", ""},
		{"a"},
		{"a", ""},
		{"", "a"},
		{"a\x00", "b"},
		{"a", "\x00b"},
		{"a\x00b"},
		{"a", "b"},
		{"\x01a"},
	} {
		key := keyOf(texts...)
		if other, ok := seen[key]; ok {
			t.Errorf("%q has the key of %q", texts, other)
		}
		seen[key] = texts
	}
}
