//go:build e2e

package registry

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/test/urndtest"
)

// store is an empty store of names that begin with "urn:", with a counter of written bytes.
type store struct {
	url     string // for --store
	file    string // SQLite; "" for PostgreSQL
	server  *testserver.Postgres
	written func() int64
	open    func(t *testing.T) registry.Store
}

// onBoth runs a test with stores in SQLite and in PostgreSQL. newStore creates one with a name of letters.
func onBoth(t *testing.T, test func(t *testing.T, newStore func(t *testing.T, name string) store)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		test(t, func(_ *testing.T, name string) store { return fileStore(filepath.Join(dir, name+".db")) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := testserver.StartPostgres(t)
		test(t, func(t *testing.T, name string) store {
			server.Create(name)
			return databaseStore(t, server, name)
		})
	})
}

func fileStore(path string) store {
	return store{
		url: "sqlite:" + path, file: path,
		written: func() (n int64) {
			all, _ := filepath.Glob(path + "*") // the pattern is valid
			for _, file := range all {
				if info, err := os.Stat(file); err == nil { // a log file may be removed meanwhile
					n += info.Size()
				}
			}
			return n
		},
		open: func(t *testing.T) registry.Store {
			t.Helper()
			s, err := sqlite.Open(t.Context(), path)
			return opened(t, s, err)
		},
	}
}

func databaseStore(t *testing.T, server *testserver.Postgres, name string) store {
	t.Helper()
	relay := testserver.StartRelay(t, server.Socket())
	return store{
		url: server.URLAt(relay.Addr(), name), server: server.For(t), written: relay.Sent,
		open: func(t *testing.T) registry.Store {
			t.Helper()
			s, err := postgres.Open(t.Context(), server.URL(name), postgres.Options{Dial: new(net.Dialer).DialContext})
			return opened(t, s, err)
		},
	}
}

func opened(t *testing.T, s registry.Store, err error) registry.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test may have closed it
	return s
}

// args returns the arguments of a registry command.
func (s store) args(args ...string) []string {
	return append(append([]string{"registry"}, args...), "--config=", "--store="+s.url)
}

// try runs a command.
func (s store) try(t *testing.T, args ...string) urndtest.Result {
	t.Helper()
	return urndtest.RunWith(t, ownUrns(), "", s.args(args...)...)
}

func ownUrns() []string { return []string{"URND_REGISTRY_OWNED=urn:"} }

// run runs a command that must succeed.
func (s store) run(t *testing.T, args ...string) string {
	t.Helper()
	got := s.try(t, args...)
	if got.Status != 0 {
		t.Fatalf("%q: %+v", args, got)
	}
	return got.Out
}

// sound checks that verify finds no errors.
func (s store) sound(t *testing.T) {
	t.Helper()
	if got := s.try(t, "verify"); got.Status != 0 || got.Out != "no problem was found\n" {
		t.Errorf("verify: %+v", got)
	}
}

// head returns the number of the last version.
func (s store) head(t *testing.T) int {
	t.Helper()
	number, _, _ := strings.Cut(s.run(t, "head"), " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// content returns all versions without their times.
func (s store) content(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`"(since|changed)":"[^"]*"`).ReplaceAllString(s.run(t, "export", "--history"), `"$1":""`)
}

// table writes a file with n names "urn:example:BELOW00000" whose targets are below a URI.
func table(t *testing.T, below string, n int, target string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("name,target\n")
	for i := range n {
		fmt.Fprintf(&text, "urn:example:%s%05d,%s%d\n", below, i, target, i)
	}
	path := filepath.Join(t.TempDir(), "names.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
