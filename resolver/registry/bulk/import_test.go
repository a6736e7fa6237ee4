package bulk_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/urnns"
)

var epoch = time.UnixMilli(1_900_000_000_123).UTC()

// admin has all permissions.
var admin = registry.Actor{Name: "anna", Role: registry.Admin}

// openFile opens the registry in a file. Its clock always returns epoch.
func openFile(t testing.TB, path string) *registry.Registry {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return registryOf(t, store, func() time.Time { return epoch })
}

func registryOf(t testing.TB, store registry.Store, now func() time.Time) *registry.Registry {
	t.Helper()
	return registry.New(configOf(t, store, now))
}

func configOf(t testing.TB, store registry.Store, now func() time.Time) registry.Config {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: set}
	return registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Now: now,
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err != nil {
				return "", err
			}
			q, err = names.Canonical(q)
			return q.URI.String(), err
		},
	}
}

// open opens a new registry.
func open(t testing.TB) *registry.Registry {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "registry.db"))
}

// imported imports a text, and returns the report and the rejections.
func imported(t testing.TB, i bulk.Import, text string) (bulk.Report, []bulk.Rejection) {
	t.Helper()
	var rejected []bulk.Rejection
	i.Rejected = func(r bulk.Rejection) { rejected = append(rejected, r) }
	if i.Actor.Name == "" {
		i.Actor = admin
	}
	report, err := i.Run(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatalf("importing %.200q: %v", text, err)
	}
	return report, rejected
}

// numbers are the counts of a report that tests compare.
type numbers struct{ New, Changed, Unchanged, Rejected int64 }

func numbersOf(r bulk.Report) numbers { return numbers{r.New, r.Changed, r.Unchanged, r.Rejected} }

func TestSimplest(t *testing.T) {
	r := open(t)
	i := bulk.Import{Registry: r}
	text := "name,target\nurn:nbn:fi:b,https://example.org/b\nURN:NBN:fi:a,https://example.org/a1\nurn:nbn:fi:a,https://example.org/a2\n,https://example.org/\nurn:nbn:fi:c,nonsense\n"
	report, rejected := imported(t, i, text)
	if numbersOf(report) != (numbers{New: 2, Rejected: 2}) || report.Lines != 5 {
		t.Errorf("the report is %+v", report)
	}
	if len(rejected) != 2 || rejected[0].Line != 5 || rejected[1].Line != 6 ||
		rejected[1].Input != "urn:nbn:fi:c,nonsense" {
		t.Errorf("rejected were %v", rejected)
	}
	e, err := r.Get(t.Context(), registry.Name("urn:nbn:fi:a"))
	if err != nil || len(e.Targets) != 2 || e.Targets[1].URI != "https://example.org/a2" || e.By != "anna" ||
		!e.Changed.Equal(epoch) {
		t.Errorf("the entry is %+v, %v", e, err)
	}
	if report, _ = imported(t, i, text); numbersOf(report) != (numbers{Unchanged: 2, Rejected: 2}) {
		t.Errorf("the second report is %+v", report)
	}
}

// TestYears checks that times whose year has no four digits in UTC are rejected: no later export could contain them.
func TestYears(t *testing.T) {
	r := open(t)
	var text strings.Builder
	for i, rest := range []string{
		`,"until":"9999-12-31T23:59:59-23:00"}]}`,
		`,"from":"0000-01-01T00:00:00+23:00"}]}`,
		`}],"changed":"0000-01-01T00:00:00+23:00"}`,
		`}],"changed":"2020-01-01T00:00:00Z","since":"9999-12-31T23:59:59-23:00"}`,
	} {
		fmt.Fprintf(&text, `{"name":"urn:nbn:fi:%d","targets":[{"uri":"https://example.org/"%s`+"\n", i, rest)
	}
	report, rejected := imported(t, bulk.Import{Registry: r}, text.String())
	if numbersOf(report) != (numbers{Rejected: 4}) {
		t.Errorf("%+v, rejected were %v", report, rejected)
	}
}

// TestRejectedLines checks that a line that contradicts another one of a name counts once, even if the rest of the
// name is rejected too.
func TestRejectedLines(t *testing.T) {
	r := open(t)
	imported(t, bulk.Import{Registry: r}, "name,target\nurn:nbn:fi:a,https://example.org/1\n")
	report, rejected := imported(t, bulk.Import{Registry: r},
		"name,target,contact\nurn:nbn:fi:a,https://example.org/2,x\nurn:nbn:fi:a,https://example.org/3,y\n")
	if report.Lines != 2 || report.Rejected != 2 || len(rejected) != 2 {
		t.Errorf("%+v, rejected were %v", report, rejected)
	}
}
