package helper_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

var (
	alice = netip.MustParseAddr("192.0.2.1")
	bob   = netip.MustParseAddr("192.0.2.2")
)

// passwords is a program that accepts the password "r%C3%A4t sel", and writes its questions to a file.
const passwords = `#!/bin/sh
while read -r user password more; do
	echo "$user $password $more" >>"$0.asked"
	case $user:$password:$more in
	alice:r%c3%a4t%20sel:) echo "OK group=staff message=hello" ;;
	broken:*) echo "BH message=\"no directory\"" ;;
	token:*) echo "TT YQ==" ;;
	slow:*) read -r x <"$0.pipe"; echo OK ;;
	*) echo "ERR message=\"wrong password\"" ;;
	esac
done
`

// basic starts that program, and returns the path of the file of its questions.
func basic(
	t *testing.T, config helper.Config, cache helper.CacheConfig,
) (b *helper.Basic, pool *helper.Pool, path string) {
	t.Helper()
	path = executable(t, passwords)
	config.Command = []string{path}
	pool, _ = open(t, config)
	b, err := helper.NewBasic(pool, cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b, pool, path
}

func TestBasic(t *testing.T) {
	var c clock
	b, pool, _ := basic(t, helper.Config{Processes: 1, Now: c.now},
		helper.CacheConfig{TTL: time.Hour, NegativeTTL: time.Minute})
	check := func(client netip.Addr, name, password string, want helper.Result, requested uint64) {
		t.Helper()
		a, err := b.Check(t.Context(), client, name, password)
		if err != nil || a.Result != want {
			t.Errorf("%s:%s: %+v, %v, want %v", name, password, a, err, want)
		}
		if got := pool.Status().Queries; got != requested {
			t.Errorf("%s:%s: %d questions were asked, want %d", name, password, got, requested)
		}
	}
	check(alice, "alice", "rät sel", helper.OK, 1)
	check(alice, "alice", "rät sel", helper.OK, 1)
	check(bob, "alice", "rät sel", helper.OK, 1) // a right password is remembered for all clients
	check(alice, "alice", "wrong", helper.ERR, 2)
	check(alice, "alice", "wrong", helper.ERR, 2)
	check(bob, "alice", "wrong", helper.ERR, 3) // a wrong one is remembered for its client
	check(alice, "alicer", "ät sel", helper.ERR, 4)
	check(alice, "", "a", helper.ERR, 4)
	check(alice, "alice", "", helper.ERR, 4)
	check(alice, "alice", strings.Repeat("a", 9<<10), helper.ERR, 4)
	check(alice, "a\nb", "c\x00d", helper.ERR, 5) // it is one question
	c.advance(2 * time.Minute)
	check(alice, "alice", "rät sel", helper.OK, 5)
	check(alice, "alice", "wrong", helper.ERR, 6)
	c.advance(time.Hour)
	check(alice, "alice", "rät sel", helper.OK, 7)
	a, err := b.Check(t.Context(), alice, "alice", "rät sel")
	if err != nil || len(a.Groups()) != 1 || a.Groups()[0] != "staff" || a.Message() != "hello" {
		t.Errorf("%+v, %v", a, err)
	}
}

// If the program fails, the login fails, and this is not remembered.
func TestBasicBroken(t *testing.T) {
	b, pool, _ := basic(t, helper.Config{Processes: 1}, helper.CacheConfig{TTL: time.Hour, NegativeTTL: time.Hour})
	for name, text := range map[string]string{"broken": "no directory", "token": "another protocol"} {
		for range 2 {
			a, err := b.Check(t.Context(), alice, name, "a")
			if !errors.Is(err, helper.ErrBroken) || !errors.Is(err, helper.ErrUnavailable) ||
				!strings.Contains(err.Error(), text) || a.Result == helper.OK {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
	}
	if got := pool.Status().Queries; got != 4 {
		t.Errorf("%d questions", got)
	}
	b.Close()
	if a, err := b.Check(t.Context(), alice, "alice", "rät sel"); !errors.Is(err, helper.ErrClosed) {
		t.Errorf("closed: %+v, %v", a, err)
	}
}

// Concurrent equal questions are sent once, and if one caller gives up, the others still get the answer.
func TestBasicTogether(t *testing.T) {
	b, pool, path := basic(t, helper.Config{Processes: 4}, helper.CacheConfig{TTL: time.Hour})
	if err := mkfifo(path + ".pipe"); err != nil {
		t.Fatal(err)
	}
	first, leave := context.WithCancel(t.Context())
	defer leave()
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = b.Check(first, alice, "slow", "a") })
	testserver.Wait(t, "it is under way", func() bool { return pool.Status().InFlight == 1 })
	results := make(chan helper.Result, 10)
	for range cap(results) {
		asking.Go(func() {
			a, err := b.Check(t.Context(), alice, "slow", "a")
			if err != nil {
				t.Error(err)
			}
			results <- a.Result
		})
	}
	// A question of another client is answered meanwhile.
	if a, err := b.Check(t.Context(), bob, "alice", "rät sel"); err != nil || a.Result != helper.OK {
		t.Errorf("%+v, %v", a, err)
	}
	release(t, path+".pipe")
	asking.Wait()
	for range cap(results) {
		if r := <-results; r != helper.OK {
			t.Errorf("%v", r)
		}
	}
	if got := pool.Status().Queries; got != 2 {
		t.Errorf("%d questions", got)
	}
}

// One client cannot occupy all processes: half of them are for others.
func TestBasicShare(t *testing.T) {
	b, pool, path := basic(t, helper.Config{Processes: 2}, helper.CacheConfig{})
	if err := mkfifo(path + ".pipe"); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan error, 4)
	for _, password := range []string{"a", "b", "c", "d"} {
		go func() {
			_, err := b.Check(ctx, alice, "slow", password)
			left <- err
		}()
	}
	testserver.Wait(t, "one is under way", func() bool { return pool.Status().InFlight == 1 })
	others := func() {
		for range 5 {
			if a, err := b.Check(t.Context(), bob, "alice", "rät sel"); err != nil || a.Result != helper.OK {
				t.Errorf("%+v, %v", a, err)
			}
		}
	}
	others()
	leave()
	for range cap(left) - 1 {
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	others()
	release(t, path+".pipe")
	<-left
	if s := pool.Status(); s.Queries != 11 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
}

// No password is logged, whatever the program does with it.
func TestNoPasswordLogged(t *testing.T) {
	path := executable(t, "#!/bin/sh\nread -r x; echo \"$x\"; read -r x; echo \"ERR $x\"; read -r x; exit 1\n")
	pool, log := open(t, helper.Config{Command: []string{path}, Processes: 1})
	b, err := helper.NewBasic(pool, helper.CacheConfig{})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "correcthorse"
	for range 3 {
		if _, err := b.Check(t.Context(), alice, "alice", secret); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
	b.Close()
	if strings.Contains(log.String(), secret) {
		t.Errorf("the log: %s", log)
	}
}
