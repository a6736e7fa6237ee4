package shelf_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/certificate"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
	"github.com/urnd/urnd/resolver/registry/shelf"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// database is an empty database.
type database struct {
	connect func() registry.Store // opens another connection, until the end of the test
	stop    func()                // makes it unavailable; nil for a file
}

// onStores runs a test for each kind of database.
func onStores(t *testing.T, run func(t *testing.T, d database)) {
	t.Helper()
	t.Parallel()
	for _, tt := range []struct {
		name string
		long bool
		open func(t *testing.T) (connect func() (registry.Store, error), stop func())
	}{
		{"SQLite", false, func(t *testing.T) (connect func() (registry.Store, error), stop func()) {
			path := filepath.Join(t.TempDir(), "registry.db")
			return func() (registry.Store, error) { return sqlite.Open(t.Context(), path) }, nil
		}},
		{"PostgreSQL", true, func(t *testing.T) (connect func() (registry.Store, error), stop func()) {
			server := testserver.StartPostgres(t)
			server.Create("shelf")
			options := postgres.Options{Dial: new(net.Dialer).DialContext, Now: time.Now}
			return func() (registry.Store, error) { return postgres.Open(t.Context(), server.URL("shelf"), options) },
				server.Stop
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.long && testing.Short() {
				t.Skip("it is long: make test-all runs it")
			}
			open, stop := tt.open(t)
			run(t, database{stop: stop, connect: func() registry.Store {
				t.Helper()
				store, err := open()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { store.Close() })
				return store
			}})
		})
	}
}

func TestShelf(t *testing.T) {
	onStores(t, func(t *testing.T, d database) {
		ctx := t.Context()
		now := time.Now().Round(time.Second)
		s := shelf.New(d.connect(), registry.TableCertificates, func() time.Time { return now })
		if _, _, err := s.Get(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a key that is not there: %v", err)
		}
		for _, key := range []string{"a", "a/b", "a/c/d", "ab"} {
			if err := s.Put(ctx, key, []byte{0, 255, 'x'}); err != nil {
				t.Fatal(err)
			}
		}
		content, at, err := s.Get(ctx, "a/b")
		if err != nil || string(content) != "\x00\xffx" || !at.Equal(now) {
			t.Errorf("got %q of %s, %v", content, at, err)
		}
		for _, tt := range []struct {
			remove, prefix string
			want           []string
		}{
			{"none", "", []string{"a", "a/b", "a/c/d", "ab"}},
			{"none", "a/", []string{"a/b", "a/c/d"}},
			{"a/c", "", []string{"a", "a/b", "ab"}},
			{"a", "", []string{"ab"}},
		} {
			if err := s.Delete(ctx, tt.remove); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Keys(ctx, tt.prefix); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("without %s: got %q, %v, want %q", tt.remove, got, err, tt.want)
			}
		}
	})
}

// A lease has one holder, which renews it until it releases it.
func TestLease(t *testing.T) {
	onStores(t, func(t *testing.T, d database) {
		ctx := t.Context()
		s := shelf.New(d.connect(), registry.TableCertificates, time.Now)
		first, release := s.Lease("x", "one")
		second, releaseSecond := s.Lease("x", "two")
		other, _ := s.Lease("y", "two")
		for _, tt := range []struct {
			name    string
			acquire func(context.Context) (bool, error)
			want    bool
		}{
			{"the first", first, true},
			{"the first again", first, true},
			{"another holder", second, false},
			{"another lease", other, true},
		} {
			if got, err := tt.acquire(ctx); err != nil || got != tt.want {
				t.Errorf("%s: %t, %v", tt.name, got, err)
			}
		}
		if err := releaseSecond(ctx); err == nil {
			if got, err := second(ctx); err != nil || got {
				t.Errorf("released by an instance that does not hold it: %t, %v", got, err)
			}
		}
		if err := release(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := second(ctx); err != nil || !got {
			t.Errorf("after it was given up: %t, %v", got, err)
		}
	})
}

// Two machines with separate connections to one database share certificates and locks; each uses its local
// copies while the database is unavailable.
func TestSharedStorage(t *testing.T) {
	onStores(t, func(t *testing.T, d database) {
		ctx := t.Context()
		machine := func() certificate.Storage {
			shared := shelf.New(d.connect(), registry.TableCertificates, time.Now)
			return certificate.SharedStorage(shared, certificate.FileStorage(t.TempDir()))
		}
		a, b := machine(), machine()
		// Names and contents like those of the library: certificates of hosts in folders, and binary data.
		content := map[string]string{
			"certificates/acme-0123456789abcdef/a.test/a.test.crt":      "-----BEGIN CERTIFICATE-----\n",
			"acme-0123456789abcdef/account.json":                        "{}\n",
			"certificates/acme-0123456789abcdef/wildcard_.b.test/b.key": "\x00\xff", "challenges/http/_-A.json": "",
		}
		for key, value := range content {
			if err := a.Store(ctx, key, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		for key, value := range content {
			if got, err := b.Load(ctx, key); err != nil || string(got) != value {
				t.Errorf("%s: %q, %v", key, got, err)
			}
			if info, err := b.Stat(ctx, key); err != nil || info.Size != int64(len(value)) ||
				time.Since(info.Modified) > time.Hour {
				t.Errorf("%s: %+v, %v", key, info, err)
			}
		}
		const folder = "certificates/acme-0123456789abcdef"
		if got, err := b.List(ctx, folder, false); err != nil ||
			!slices.Equal(got, []string{folder + "/a.test", folder + "/wildcard_.b.test"}) {
			t.Errorf("listed: %q, %v", got, err)
		}
		if _, err := b.Load(ctx, folder+"/c.test/c.test.crt"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a key that is not there: %v", err)
		}

		if err := a.Lock(ctx, "issue_cert_a.test"); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if err := b.Lock(short, "issue_cert_a.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a lock that another machine has: %v", err)
		}
		taken := make(chan error, 1)
		go func() { taken <- b.Lock(ctx, "issue_cert_a.test") }()
		if err := a.Unlock(ctx, "issue_cert_a.test"); err != nil {
			t.Fatal(err)
		}
		if err := <-taken; err != nil {
			t.Errorf("a lock that was given up: %v", err)
		}
		if err := b.Unlock(ctx, "issue_cert_a.test"); err != nil {
			t.Error(err)
		}

		if err := a.Delete(ctx, folder+"/wildcard_.b.test"); err != nil {
			t.Fatal(err)
		}
		if a.Exists(ctx, folder+"/wildcard_.b.test") || !a.Exists(ctx, folder+"/a.test") {
			t.Error("it is wrong what exists")
		}
		if d.stop == nil {
			return
		}
		d.stop()
		if got, err := b.Load(ctx, folder+"/a.test/a.test.crt"); err != nil || len(got) == 0 {
			t.Errorf("while the database is away: %q, %v", got, err)
		}
		if err := b.Store(ctx, folder+"/a.test/a.test.crt", nil); err == nil {
			t.Error("it was stored while the database is away")
		}
		if err := b.Lock(ctx, "issue_cert_a.test"); err == nil {
			t.Error("it was locked while the database is away")
		}
	})
}
