package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// With many concurrent writers the files never exceed the budget, while objects are stored, read, replaced and
// evicted, and after restarts.
func TestBudget(t *testing.T) {
	const budget = 8 * mebibyte
	s := newStage(t, budget)
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { s.Run(ctx) })
		testserver.Wait(t, "the index is made", s.space.indexed.Load)
		stored := fill(t, s, budget)
		cancel()
		testserver.Within(t, "Run", wg.Wait)
		if stored == 0 {
			t.Error("nothing was stored")
		}
		s.reopen(t)
	}
	if err := s.Each(func(string, []byte) {}); err != nil {
		t.Error(err)
	}
	if got, want := s.Stats().Bytes, s.diskUsage(t); got != want || got < budget/2 {
		t.Errorf("%d bytes are counted, %d are used", got, want)
	}
}

// fill stores objects from several goroutines, and observes the space they use.
func fill(t *testing.T, s *stage, budget int64) (stored int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				o, err := put(s.Store, key(rand.IntN(1000)), make([]byte, rand.IntN(3000)),
					make([]byte, rand.IntN(200_000)))
				if err != nil && !errors.Is(err, ErrFull) && !errors.Is(err, ErrIndexing) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					stored++
					mu.Unlock()
					_, err = s.Replace(o, make([]byte, rand.IntN(9000)))
				}
				if err != nil && !errors.Is(err, ErrFull) && !errors.Is(err, ErrIndexing) && !errors.Is(err, ErrGone) {
					t.Error(err)
				}
				if used := s.Stats().Bytes; used > budget {
					// Stats may include a reservation that is about to be refused, and diskUsage may count a file
					// removed during its walk together with a new one.
					for tries := 0; used > budget && tries < 5; tries++ {
						used = s.diskUsage(t)
					}
					if used > budget {
						t.Errorf("%d bytes are used", used)
					}
				}
			}
		})
	}
	wg.Wait()
	if used := s.diskUsage(t); used > budget {
		t.Errorf("%d bytes are used", used)
	}
	return stored
}

func TestTooLarge(t *testing.T) {
	s := newStage(t, 4*mebibyte)
	if _, err := put(s.Store, "k", nil, make([]byte, mebibyte+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than a quarter of the budget: %v", err)
	}
	if s.Stats().Bytes != 0 {
		t.Errorf("%+v", s.Stats())
	}
	for i := range 3 {
		mustPut(t, s.Store, key(i), "", make([]byte, mebibyte-block))
	}
	mustPut(t, s.Store, key(4), "", make([]byte, mebibyte-block))
	if _, err := put(s.Store, "k", nil, make([]byte, 2*block)); !errors.Is(err, ErrFull) {
		t.Errorf("more than the budget: %v", err)
	}
}

// The least recently used object is evicted first, and an object being read stays readable.
func TestLeastRecentlyUsed(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for i := range 10 {
		mustPut(t, s.Store, key(i), "", body(uint64(i), 5000))
		s.clock.add(time.Second)
	}
	open, err := s.Get(key(1))[0].Open(0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	s.clock.add(time.Second)
	s.want(t, key(0), "", body(0, 5000)) // now the most recently used
	mustPut(t, s.Store, key(3), "another", nil)
	evict := func(n int64) {
		t.Helper()
		s.space.target.Store(s.space.used.Load() - n*block)
		if !s.evict(t.Context()) {
			t.Error("nothing can be evicted")
		}
	}
	present := func() (text string) {
		for i := range 10 {
			text += string('0' + byte(len(s.Get(key(i)))))
		}
		return text
	}
	evict(4)
	if got := present(); got != "1101111111" { // 1 was used after 9 was stored
		t.Errorf("objects by key: %s", got)
	}
	if got, err := io.ReadAll(open); err != nil || !bytes.Equal(got, body(1, 5000)) {
		t.Errorf("a body that was open when it was evicted: %d bytes, %v", len(got), err)
	}
	// After a restart, the object stored first is evicted first.
	s.reopen(t)
	s.indexed(t)
	evict(1)
	s.clock.add(time.Hour)
	s.wantMiss(t, key(0))
}

// Most of the requested objects of a skewed load stay, although eviction uses samples.
func TestEvictionKeepsRequested(t *testing.T) {
	var x index
	random := rand.New(rand.NewPCG(1, 2))
	const popular, others = 2000, 8000
	for i := range popular + others {
		x.add(entry{name: name{digest: digestOf(key(i)), id: uint64(i), length: 100}, used: uint32(random.IntN(1000))})
	}
	for i := range popular {
		x.opened(ref{digestOf(key(i)), uint64(i)}, 10, 2000, noStamp, false)
	}
	for range others * 3 / 4 {
		n, ok := x.oldest()
		if !ok || !x.drop(n) {
			t.Fatal("nothing is evicted")
		}
	}
	lost := 0
	for i := range popular {
		if _, ok := x.shard(digestOf(key(i))).current(ref{digestOf(key(i)), uint64(i)}); !ok {
			lost++
		}
	}
	t.Logf("%d of %d popular objects were evicted among %d", lost, popular, others)
	if lost > 0 {
		t.Errorf("%d of %d popular objects were evicted", lost, popular)
	}
}

// Mass eviction does not delay requests: it holds no lock while it removes files.
func TestEvictionHoldsNothingUp(t *testing.T) {
	s := newStage(t, 256*mebibyte)
	for i := range 50 {
		mustPut(t, s.Store, key(i), "", body(uint64(i), 100))
		s.clock.add(time.Second)
	}
	removing, goOn := make(chan struct{}), make(chan struct{})
	s.files.failure = func(operation string) error {
		if operation == "remove" {
			select {
			case removing <- struct{}{}:
			case <-goOn:
			}
			<-goOn
		}
		return nil
	}
	s.space.target.Store(s.space.used.Load() - 1)
	done := make(chan bool)
	go func() { done <- s.evict(context.Background()) }()
	testserver.Within(t, "the beginning of the eviction", func() { <-removing })
	testserver.Within(t, "a request", func() {
		for i := 1; i < 50; i++ {
			s.want(t, key(i), "", body(uint64(i), 100))
		}
		w, err := s.Create("new")
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = w.Write([]byte("body"))
		if _, err := w.Commit(nil); err != nil {
			t.Error(err)
		}
		_ = w.Close()
		s.want(t, "new", "", []byte("body"))
	})
	close(goOn)
	if !<-done {
		t.Error("nothing was evicted")
	}
}
