package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// Writers that wait for another instance leave connections for lookups.
func TestWritersWaiting(t *testing.T) {
	server := testserver.StartPostgres(t)
	other := connect(t, server.URL(""))
	defer other.store.Close()
	i := connect(t, server.URL("")+"&pool_max_conns=2")
	defer i.store.Close()
	i.set(t, "urn:example:a", "https://example.org/")

	release, holds := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- other.store.Write(context.Background(), func(registry.WriteTx) error {
			close(holds)
			<-release
			return nil
		})
	}()
	<-holds
	const writers = 4
	for range writers {
		go func() {
			ended <- i.store.Write(context.Background(), func(registry.WriteTx) error { return nil })
		}()
	}
	testserver.Wait(t, "somebody waits for the lock", func() bool {
		return server.Query("", "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "t"
	})
	time.Sleep(200 * time.Millisecond) // gives the other writers time to wait, too
	if e, err := i.store.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil || !e.Exists() {
		t.Errorf("looking up while %d wait to write: %+v, %v", writers, e, err)
	}
	close(release)
	for range writers + 1 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
