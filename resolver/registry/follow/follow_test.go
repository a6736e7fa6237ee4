package follow_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// opener opens the store in a file, or fails while fault is set.
type opener struct {
	path string

	mu      sync.Mutex
	failure error
	tries   int
}

func (o *opener) open(ctx context.Context, mustExist bool) (registry.Store, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tries++
	if o.failure != nil {
		return nil, o.failure
	}
	if mustExist {
		if err := sqlite.CheckExists(o.path); err != nil {
			return nil, err
		}
	}
	return sqlite.Open(ctx, o.path)
}

func (o *opener) set(failure error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failure = failure
}

func (o *opener) tried() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tries
}

// soon is time.After with almost no delay.
func soon(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }

func put(name string) func(registry.WriteTx) error {
	return func(tx registry.WriteTx) error {
		return tx.Put(registry.TableMarks, []registry.Document{{Key: name, Value: []byte("{}")}})
	}
}

// Opening a store is retried; Report is called once for the error, and once for the success.
func TestStoreIsOpenedAgain(t *testing.T) {
	o := &opener{path: filepath.Join(t.TempDir(), "registry.db"), failure: errors.New("broken")}
	var mu sync.Mutex
	var reports []error
	s := follow.New(follow.Config{Open: o.open, After: soon, Report: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, err)
	}})
	s.Start()
	s.Start() // only the first call has an effect
	defer s.Stop()
	testserver.Wait(t, "it is tried again", func() bool { return o.tried() > 3 })
	if failures := s.Failures(); !slices.Equal(failures, []string{"the registry is unavailable: broken"}) {
		t.Errorf("the faults are %q", failures)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if failures := s.AwaitFirstTry(ended); len(failures) != 1 {
		t.Errorf("the waiting client gets %q", failures)
	}
	o.set(nil)
	s.Await(t.Context())
	if failures := s.AwaitFirstTry(t.Context()); failures != nil {
		t.Errorf("it is open, with %q", failures)
	}
	testserver.Wait(t, "that it is open is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(reports) == 2 && reports[0] != nil && reports[1] == nil
	})
}

// A store on a full file system is readable, and reported as degraded; it is reopened once there is free space.
func TestStoreWithoutRoom(t *testing.T) {
	dir := testserver.SmallDisk(t)
	o := &opener{path: filepath.Join(dir, "registry.db")}
	made, err := sqlite.Open(t.Context(), o.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(made.Write(t.Context(), put("a")), made.Close()); err != nil {
		t.Fatal(err)
	}
	makeRoom := testserver.Fill(t, dir)
	s := follow.New(follow.Config{Open: o.open, After: soon})
	s.Start()
	defer s.Stop()
	s.Await(t.Context())
	if failures := s.Failures(); len(failures) != 1 || !strings.HasPrefix(failures[0], "the registry is read-only: ") {
		t.Errorf("the faults are %q", failures)
	}
	if err := s.Write(t.Context(), put("b")); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("writing: %v", err)
	}
	if _, err := s.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil {
		t.Errorf("reading: %v", err)
	}
	makeRoom()
	testserver.Wait(t, "it can be written to again", func() bool { return s.Write(t.Context(), put("b")) == nil })
	testserver.Wait(t, "with room there is no fault", func() bool { return s.Failures() == nil })
}

// OpenSync opens an existing store, and creates none.
func TestOpenNow(t *testing.T) {
	o := &opener{path: filepath.Join(t.TempDir(), "registry.db")}
	s := follow.New(follow.Config{Open: o.open, After: soon})
	if err := s.OpenSync(t.Context()); !errors.Is(err, registry.ErrUnavailable) || len(s.Failures()) != 1 {
		t.Errorf("there is none: %v, %q", err, s.Failures())
	}
	s.Stop()
	made, err := sqlite.Open(t.Context(), o.path)
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	s = follow.New(follow.Config{Open: o.open, After: soon})
	defer s.Stop()
	if err := s.OpenSync(t.Context()); err != nil || s.Failures() != nil {
		t.Errorf("%v, %q", err, s.Failures())
	}
	if err := s.Write(t.Context(), put("a")); err != nil { // works without a feed
		t.Error(err)
	}
}
