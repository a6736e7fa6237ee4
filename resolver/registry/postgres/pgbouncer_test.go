package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/registrytest"
)

// Several instances write and read through PgBouncer as they do without it, although each transaction may use a
// different server connection.
func TestPgBouncer(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	pooler := testserver.StartPgBouncer(t, server)
	if testserver.Long() {
		databases := 0
		registrytest.Run(t, func(t *testing.T) registrytest.Database {
			databases++
			name := fmt.Sprintf("names%d", databases)
			server.Create(name)
			return registrytest.Database{
				Connect: func() registry.Store { return open(t, pooler.URL(name)) },
				Exec:    func(statement string) { execute(t, server.URL(name), statement) },
			}
		})
	}
	const writers, names = 4, 150 // enough for COPY
	stores := make([]registry.Store, writers)
	for i := range stores {
		stores[i] = open(t, pooler.URL(""))
		defer stores[i].Close()
	}
	entry := func(writer, n, version int) registry.Entry {
		return registry.Entry{
			Key: registry.Name(fmt.Sprintf("urn:example:%d-%d", writer, n)), Version: version,
			Changed: time.UnixMilli(int64(version)),
			Record: registry.Record{Targets: []registry.Target{{URI: fmt.Sprintf("https://example.org/%d/%d/%d", writer,
				n, version)}}},
		}
	}
	errs := make([]error, writers)
	var wait sync.WaitGroup
	for i, s := range stores {
		wait.Go(func() {
			for version := range 5 {
				err := s.Write(t.Context(), func(tx registry.WriteTx) error {
					entries := make([]registry.Entry, names)
					for n := range entries {
						entries[n] = entry(i, n, version+1)
					}
					return registrytest.Append(tx, entries...)
				})
				e, err2 := s.Lookup(t.Context(), registry.Name(fmt.Sprintf("urn:example:%d-7", i)))
				if err := errors.Join(err, err2); err != nil || e.Version != version+1 {
					errs[i] = fmt.Errorf("version %d, want %d, %w", e.Version, version+1, err)
					return
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var problems []string
	err := stores[0].Verify(t.Context(), func(problem string) { problems = append(problems, problem) },
		func(registry.Seq, registry.Seq) {})
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %s", err, strings.Join(problems, "\n"))
	}
	if head, err := stores[1].Head(t.Context()); head != writers*names*5 || err != nil {
		t.Errorf("the head is %d, %v", head, err)
	}
}
