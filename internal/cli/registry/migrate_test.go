package registry

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// storeAs puts names into a store as they are, as an older version did that had other rules.
func storeAs(t *testing.T, store string, names ...string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), strings.TrimPrefix(store, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Write(t.Context(), func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "before", time.Now())
		for _, name := range names {
			record := registry.Record{Targets: []registry.Target{{URI: "https://example.org/" + name[len(name)-1:]}}}
			if _, _, err := b.Put(registry.Name(name), record, ""); err != nil {
				return err
			}
		}
		_, err := b.Flush()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Names by older rules get their canonical ones, those that collide when it is said which has the name, and a backup is the way back.
func TestMigrate(t *testing.T) {
	r := emptyRegistry(t)
	path := strings.TrimPrefix(r.store, "sqlite:")
	storeAs(t, r.store, "urn:nbn:FI:a", "urn:nbn:FI:b", "urn:nbn:fi:b", "urn:nbn:fi:c")
	table := "name,prefix,what,canonical,status,version,changed,by,why\n"
	for _, s := range []step{
		{args: words("migrate --format xml"), part: "is no format", status: 2},
		{args: words("migrate --limit -1"), part: "--limit is not negative", status: 2},
		{args: words("migrate --resolve @nowhere"), part: "--resolve @nowhere", status: 2},
		{args: words("migrate --resolve urn:nbn:fi:c"), part: "none is registered so", status: 2},
		{args: words("migrate --dry-run --limit 1"), out: "urn:nbn:FI:a\trename\turn:nbn:fi:a\n", part: "2 more lines are not printed", status: 1},
		{args: words("migrate --dry-run --collisions --format csv --limit 0"), part: "2 collide", status: 1},
		{args: words("migrate --collisions"), part: "1 renamed, 0 decided to be another name, 2 collide", status: 1},
		{args: words("history urn:nbn:fi:a --limit 1"), out: "version 2, TIME, by USER, renamed from urn:nbn:FI:a: its canonical name\n"},
		{
			args: words("migrate --resolve newest --note decided --format text"),
			out:  "urn:nbn:fi:b\tkeep\turn:nbn:fi:b\nurn:nbn:FI:b\talias\turn:nbn:fi:b\n", part: "1 decided to be another name, 0 collide",
		},
		{args: words("migrate"), part: "0 renamed"},
		{args: words("check"), part: "errors 0"},
		{args: words("verify"), out: "no fault was found\n"},
		{args: []string{"restore", path + ".before-migrate"}, part: ""},
		{args: words("migrate --dry-run --format ndjson --limit 1"), part: "1 would be renamed", status: 1},
	} {
		out, messages, status := r.run(s.in, s.args...)
		if status != s.status || s.out != without(out) && s.out != "" || !strings.Contains(messages, s.part) {
			t.Errorf("%s: status %d\n%s%s", strings.Join(s.args, " "), status, without(out), messages)
		}
		if strings.Contains(strings.Join(s.args, " "), "csv") && !strings.HasPrefix(out, table) {
			t.Errorf("the table is %s", out)
		}
	}
	for _, file := range []string{".before-migrate", ".before-migrate.sha256", ".before-migrate-2"} {
		if _, err := os.Stat(path + file); err != nil {
			t.Error(err)
		}
	}
}
