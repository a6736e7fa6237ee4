//go:build e2e

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// mirror is a copy of a registry, made with /api/v1/registry/versions.
type mirror struct {
	cursor string
	names  map[string]string // target or status by name
	again  int               // number of restarts of the copy
}

type mirroredVersion struct {
	Name, Status string
	Targets      []struct{ URI string }
}

func (v mirroredVersion) String() string {
	if v.Status != "active" || len(v.Targets) == 0 {
		return v.Status
	}
	return v.Targets[0].URI
}

// next reads a page, and reports whether there are more.
func (m *mirror) next(t *testing.T, admin string) bool {
	target := admin + "/api/v1/registry/versions?limit=1000"
	if m.cursor != "" {
		target += "&cursor=" + url.QueryEscape(m.cursor)
	}
	a := urndtest.Send(t, "GET "+target, "")
	switch a.Status {
	case http.StatusGone:
		*m = mirror{names: make(map[string]string), again: m.again + 1}
		return true
	case http.StatusServiceUnavailable: // while the store is replaced
		return true
	}
	var page struct {
		Events []struct {
			Kind, Name string
			Version    mirroredVersion
		}
		Next string
		More bool
	}
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil || a.Status != http.StatusOK {
		t.Errorf("%d, %s, %v", a.Status, a.Body, err)
		return false
	}
	for _, e := range page.Events {
		switch e.Kind {
		case "version":
			m.names[e.Name] = e.Version.String()
		case "purge":
			delete(m.names, e.Name)
		}
	}
	m.cursor = page.Next
	return page.More
}

// equals reads the remaining pages, and compares the copy with an export.
func (m *mirror) equals(t *testing.T, s store, admin string) {
	t.Helper()
	want := make(map[string]string)
	for line := range strings.Lines(s.run(t, "export")) {
		var v mirroredVersion
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		want[v.Name] = v.String()
	}
	testserver.Wait(t, "the follower has all", func() bool { return !m.next(t, admin) && maps.Equal(m.names, want) })
}

// answers waits until a name is redirected to a target, or has the text of a status.
func answers(t *testing.T, d *urndtest.Daemon, name, want string) {
	t.Helper()
	testserver.Wait(t, fmt.Sprintf("%s answers %s", name, want), func() bool { return d.Target(t, name) == want })
}

// TestFollowers checks that a copy of the registry by its versions is complete after an import, a revert, and a
// restore of an older backup, after which it restarts. Another urnd with cached names uses their new records
// then.
func TestFollowers(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		s := newStore(t, "names")
		const before, n = 200, 1000
		s.run(t, "import", table(t, "a", before, "https://old.example/"))
		backup := filepath.Join(t.TempDir(), "backup.ndjson.zst")
		s.run(t, "backup", "--portable", backup)
		one, two := s.serve(t), s.serve(t)
		known := func(i int, want string) {
			t.Helper()
			for _, d := range []*urndtest.Daemon{one, two} {
				answers(t, d, fmt.Sprintf("urn:example:a%05d", i), want)
			}
		}
		every := func(visit func(i int)) {
			for i := 0; i < before; i += 25 {
				visit(i)
			}
		}
		every(func(i int) { known(i, fmt.Sprint("https://old.example/", i)) })

		m := mirror{names: make(map[string]string)}
		stopped, stop := context.WithCancel(t.Context())
		defer stop()
		var following sync.WaitGroup
		following.Go(func() {
			for stopped.Err() == nil {
				m.next(t, one.Admin)
			}
		})
		s.run(t, "import", "--overwrite", table(t, "a", n, "https://new.example/"))
		every(func(i int) { known(i, fmt.Sprint("https://new.example/", i)) })
		known(n-1, fmt.Sprint("https://new.example/", n-1))
		s.run(t, "revert", fmt.Sprint(before+1), "--note", "wrong")
		every(func(i int) { known(i, fmt.Sprint("https://old.example/", i)) })
		known(n-1, "Gone")
		stop()
		following.Wait()
		m.equals(t, s, one.Admin)
		if m.again > 0 || len(m.names) != n {
			t.Errorf("it has begun anew %d times, and has %d names", m.again, len(m.names))
		}

		if s.file != "" {
			if got := s.try(t, "restore", backup); got.Status != 1 || !strings.Contains(got.Err, "stop urnd first") {
				t.Errorf("restore beside urnd: %+v", got)
			}
			one.Stop()
			two.Stop()
			s.run(t, "restore", backup)
			one, two = s.serve(t), s.serve(t)
		} else {
			s.replaceBy(t, newStore(t, "older"), backup)
		}
		known(n-1, "Not Found")
		every(func(i int) { known(i, fmt.Sprint("https://old.example/", i)) })
		m.equals(t, s, one.Admin)
		if m.again != 1 || len(m.names) != before {
			t.Errorf("after the restore it has begun anew %d times, and has %d names", m.again, len(m.names))
		}
	})
}

// replaceBy replaces the database of the store by a backup while it is in use.
func (s store) replaceBy(t *testing.T, by store, backup string) {
	t.Helper()
	by.run(t, "restore", backup)
	for _, statement := range []string{
		"ALTER DATABASE names ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname IN ('names', 'older')",
		"ALTER DATABASE names RENAME TO before",
		"ALTER DATABASE older RENAME TO names",
	} {
		s.server.Query("", statement)
	}
}
