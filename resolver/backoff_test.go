package resolver_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

var errRefused = errors.New("connection refused")

// silent is a probe of a server that does not respond.
func silent() bool { return false }

// unreachable records that a server cannot be reached.
func unreachable(b *resolver.Backoff, server string) {
	a := b.Begin(server)
	a.Unreachable(errRefused)
}

// answers records a response of a server.
func answers(b *resolver.Backoff, server string) {
	a := b.Begin(server)
	a.Answered()
}

// fails records that a request of a witness got no response.
func fails(b *resolver.Backoff, server, witness string, probe func() bool) {
	a := b.Begin(server)
	a.Failed(witness, errRefused, probe)
}

func TestBackoff(t *testing.T) {
	if got := (*resolver.Backoff)(nil).Avoided(); got != nil {
		t.Errorf("%+v", got)
	}
	now := time.Unix(1000, 0)
	b := resolver.NewBackoff(5*time.Second, func() time.Time { return now })
	if err := b.Err("a"); err != nil {
		t.Errorf("an unknown server: %v", err)
	}
	unreachable(b, "a")
	if err := b.Err("a"); !errors.Is(err, errRefused) ||
		!strings.HasPrefix(err.Error(), "in backoff, next attempt in 5s: ") {
		t.Errorf("after a failure: %v", err)
	}
	if err := b.Err("b"); err != nil {
		t.Errorf("another server: %v", err)
	}
	if got := b.Avoided(); len(got) != 1 ||
		got[0] != (resolver.Avoided{Server: "a", Err: errRefused, Until: now.Add(5 * time.Second)}) {
		t.Errorf("it avoids %+v", got)
	}
	now = now.Add(5 * time.Second)
	if got := b.Avoided(); got != nil {
		t.Errorf("after the period it avoids %+v", got)
	}
	if err := b.Err("a"); err != nil {
		t.Errorf("after the period: %v", err)
	}
	if err := b.Err("a"); err == nil {
		t.Error("second concurrent query to a server in backoff")
	}
	answers(b, "a")
	if err := b.Err("a"); err != nil {
		t.Errorf("after an answer: %v", err)
	}
}

// One slow name does not make a server count as failing, however often it is queried. Neither do slow names
// while other queries get responses.
func TestBackoffOfSlowServers(t *testing.T) {
	now := time.Unix(1000, 0)
	b := resolver.NewBackoff(5*time.Second, func() time.Time { return now })
	for range 3 {
		fails(b, "a", "slow", silent)
	}
	if err := b.Err("a"); err != nil {
		t.Errorf("after timeouts of one name: %v", err)
	}
	one, two := b.Begin("a"), b.Begin("a")
	now = now.Add(time.Second)
	answers(b, "a")
	one.Failed("one", errRefused, silent)
	two.Failed("two", errRefused, silent)
	if err := b.Err("a"); err != nil {
		t.Errorf("timeouts of requests before an answer: %v", err)
	}
	fails(b, "a", "one", silent)
	fails(b, "a", "two", silent)
	if err := b.Err("a"); !errors.Is(err, errRefused) {
		t.Errorf("after timeouts of two names: %v", err)
	}
	fails(b, "b", "one", silent)
	fails(b, "b", "two", func() bool {
		fails(b, "b", "three", func() bool { t.Error("concurrent queries to a server in backoff"); return false })
		return true
	})
	if err := b.Err("b"); err != nil {
		t.Errorf("two slow names of a server that answers: %v", err)
	}
	now = now.Add(5 * time.Second)
	if err := b.Err("a"); err != nil {
		t.Errorf("after the period: %v", err)
	}
	left := b.Begin("a")
	left.Abandon()
	left.Answered() // only the first outcome counts
	if err := b.Err("a"); err != nil {
		t.Errorf("the next caller: %v", err)
	}
	if err := b.Err("a"); err == nil {
		t.Error("two concurrent queries")
	}
}

func TestBackoffIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	b := resolver.NewBackoff(time.Second, func() time.Time { return now })
	for i := range 4096 {
		now = now.Add(time.Microsecond)
		unreachable(b, strconv.Itoa(i))
	}
	for i := range 5000 {
		fails(b, "suspected "+strconv.Itoa(i), "one", nil)
	}
	if got := len(b.Avoided()); got != 4096 {
		t.Errorf("%d servers remembered after failures of one name", got)
	}
	now = now.Add(time.Microsecond)
	unreachable(b, "4096")
	if got := len(b.Avoided()); got != 4096 || !b.Failing("4096") {
		t.Errorf("%d servers remembered, the last one: %t", got, b.Failing("4096"))
	}
	now = now.Add(time.Minute)
	unreachable(b, "new")
	if got := b.Avoided(); len(got) != 1 || got[0].Server != "new" {
		t.Errorf("after those before have expired: %+v", got)
	}
	for i := range 9999 {
		answers(b, strconv.Itoa(i))
	}
	if answers(b, "new"); !b.Empty() {
		t.Error("servers that answer are remembered")
	}
	off := resolver.NewBackoff(0, time.Now)
	unreachable(off, "a")
	if err := off.Err("a"); err != nil {
		t.Errorf("turned off: %v", err)
	}
}

// BenchmarkBackoff measures the overhead of a request to a server that responds.
func BenchmarkBackoff(b *testing.B) {
	servers := resolver.NewBackoff(time.Second, time.Now)
	b.ReportAllocs()
	for b.Loop() {
		answers(servers, "http://a.example")
	}
}
