package registrytest

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// verified returns the problems that Verify reports.
func verified(t *testing.T, s registry.Store) string {
	t.Helper()
	var problems []string
	last := registry.Seq(0)
	err := s.Verify(t.Context(), func(problem string) { problems = append(problems, problem) },
		func(done, all registry.Seq) {
			if done < last || done > all {
				t.Errorf("progress: %d of %d after %d", done, all, last)
			}
			last = done
		})
	if err != nil {
		t.Errorf("verifying: %v", err)
	}
	return strings.Join(problems, "\n")
}

// put sets a record by a registry.Batch, as all writers do.
func put(t *testing.T, s registry.Store, key registry.Key, record registry.Record) {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "test", epoch)
		if _, _, err := b.Put(key, record, ""); err != nil {
			return err
		}
		_, err := b.Flush()
		return err
	})
}

// fill writes some data of each kind. The Seqs 1 to 3 are versions of urn:example:a, of which 5 redacts the
// first; 4 is the version of urn:example:test, which 6 purges.
func fill(t *testing.T, s registry.Store) {
	t.Helper()
	key := registry.Name("urn:example:a")
	for _, uri := range []string{"https://example.org/secret", "https://example.org/open", "https://www.example.net/"} {
		put(t, s, key, registry.Record{
			Targets: []registry.Target{{URI: uri, Title: "Kalevala"}}, Contact: "library",
			Metadata: `{"a":1}`,
		})
	}
	put(t, s, registry.Name("urn:example:test"), registry.Record{Contact: "nobody"})
	admin := registry.Actor{Name: "admin", Role: registry.Admin}
	if n, err := registryOf(s).Redact(t.Context(), admin, key, []int{1}, "court order"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	purge(t, s, registry.Name("urn:example:test"))
	put(t, s, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	put(t, s, registry.Prefix("urn:example:"), registry.Record{Authoritative: true})
	put(t, s, registry.Name("https://example.org/"), registry.Record{Status: registry.Reserved})
	put(t, s, registry.Name("urn:example:b"),
		registry.Record{Status: registry.Withdrawn, Reason: "why", Successors: []string{"urn:example:a"}})
}

// Verify reports no problem after regular writes, and a problem after each change that bypasses the store.
func testVerify(t *testing.T, open func(t *testing.T) Database) {
	for _, c := range []struct{ statement, want string }{
		{"", ""},
		{
			"UPDATE target SET uri = 'https://evil.example/' WHERE version = 3",
			"urn:example:a: version 3, number 3, differs from its digest",
		},
		{
			"UPDATE target SET title = NULL WHERE version = 2",
			"urn:example:a: version 2, number 2, differs from its digest",
		},
		{"DELETE FROM target WHERE version = 2", "version 2, number 2, differs from its digest"},
		{"UPDATE version SET contact = 'somebody' WHERE seq = 3", "version 3, number 3, differs from its digest"},
		{"UPDATE version SET metadata = NULL WHERE seq = 3", "version 3, number 3, differs from its digest"},
		{"UPDATE version SET time = time + 1 WHERE seq = 2", "the numbers 2 to 2, or their change set 2"},
		{"UPDATE version SET reason = 'other' WHERE seq = 10", "the numbers 10 to 10"},
		{"UPDATE version SET successors = NULL WHERE seq = 10", "the numbers 10 to 10"},
		{"UPDATE version SET contact = 'again' WHERE seq = 1", "version 1, number 1, is redacted, but has content"},
		{"UPDATE version SET redacted = NULL WHERE seq = 1", ""}, // rejected by a CHECK constraint
		{
			"UPDATE version SET redacted = 6 WHERE seq = 1",
			"number 5 records a removal from urn:example:a that did not happen",
		},
		{"UPDATE version SET digest = (SELECT digest FROM version WHERE seq = 3) WHERE seq = 4", "the numbers 4 to 4"},
		// Rejected.
		{"UPDATE version SET purged = NULL, name = 4, number = 1, time = 0, status = 0, author = 1 WHERE seq = 4", ""},
		{"UPDATE event SET reason = 'none' WHERE seq = 5", "the numbers 5 to 5"},
		{"UPDATE event SET key = 'urn:example:b' WHERE seq = 6", "the numbers 6 to 6"},
		{"UPDATE change_set SET note = 'other' WHERE id = 6", "the numbers 6 to 6, or their change set 6"},
		{"UPDATE change_set SET kind = 'import' WHERE id = 2", "their change set 2"},
		{"UPDATE change_set SET size = 2 WHERE id = 2", "change set 2 claims 2 versions up to number 2, but has 1"},
		{
			"UPDATE change_set SET last = 99 WHERE id = 2",
			"change set 2 claims 1 versions up to number 99, but has 1 up to number 2",
		},
		{
			"INSERT INTO change_set (id, kind, author, time, last, size) SELECT 99, 'import', author, 0, 99, 1 FROM " +
				"change_set WHERE id = 2",
			"import change set 99 without a commit",
		},
		{
			"UPDATE commits SET last = 4611686018427387904 WHERE last = 10",
			"the last commit ends at number 4611686018427387904, but the last number is 10",
		},
		{
			"UPDATE commits SET digest = (SELECT digest FROM commits WHERE last = 3) WHERE last = 2",
			"the numbers 2 to 2",
		},
		{"DELETE FROM commits WHERE last = 10", "number 10"},
		{"DELETE FROM commits WHERE last = 2", "commit of number 3 begins at 3, but the previous one ends at 1"},
		{"UPDATE author SET name = 'mallory' WHERE name = 'test'", "the numbers 1 to 1"},
		{
			"UPDATE name SET version = 2, status = 0 WHERE key = 'urn:example:a'",
			"urn:example:a: version number 3 is later than the current one",
		},
		{
			"UPDATE name SET version = 7 WHERE key = 'urn:example:a'",
			"urn:example:a: current version, number 7, belongs to another name",
		},
		{
			"UPDATE name SET status = 2 WHERE key = 'urn:example:a'",
			"urn:example:a: current version, number 3, belongs to another name, or has a different status",
		},
		{
			"UPDATE name SET alias = 'urn:example:b' WHERE key = 'urn:example:alias'",
			"urn:example:alias: current version, number 7",
		},
		{"UPDATE name SET key = 'urn:example:z' WHERE key = 'urn:example:a'", "the numbers 2 to 2"},
		{"DELETE FROM name WHERE key = 'urn:example:b'", "number 10 is missing, or has no name"},
		{"UPDATE target SET current = 1 WHERE version = 2", "urn:example:a: wrong host index of a target of number 2"},
		{
			"UPDATE target SET current = NULL WHERE version = 3",
			"urn:example:a: wrong host index of a target of number 3",
		},
		{
			"UPDATE target SET host = (SELECT min(id) FROM host) WHERE version = 3",
			"host index misses a target of version 3, number 3",
		},
		{
			"INSERT INTO target (version, position, uri) VALUES (4, 0, 'https://evil.example/')",
			"https://evil.example/ is a target of the missing number 4",
		},
		{
			"INSERT INTO target (version, position, uri) VALUES (99, 0, 'https://evil.example/')",
			"https://evil.example/ is a target of the missing number 99",
		},
		{
			"UPDATE target SET uri = 'https://nohost.example/', host = NULL WHERE version = 3",
			"host index misses a target of version 3, number 3",
		},
		{
			"UPDATE host SET reversed = 'org.other' WHERE reversed = 'org.example'",
			"host index misses a target of version 2, number 2",
		},
		{
			"DELETE FROM name WHERE id IN (1, 8)",
			"urn:example:alias, version number 7, is an alias of a name neither registered",
		},
		{"UPDATE version SET number = 4 WHERE seq = 3", "urn:example:a: the version before number 3 is missing"},
		{"UPDATE title_word SET word = 'kalevale'", "title index has 1 words, differing from the 1 of the names"},
		{"DELETE FROM title_word", "title index has 0 words, differing from the 1 of the names"},
		{"UPDATE title_word SET name = 10", "title index has 1 words, differing from the 1 of the names"},
		{
			"INSERT INTO token (id, name, role, prefixes, created, made_by, hash) SELECT 'broken', 'anna', " +
				"'reader', '[', 0, 'root', digest FROM version WHERE seq = 1",
			"token broken: unexpected end of JSON input",
		},
		{"UPDATE total SET active = active + 1 WHERE namespace = 'urn:example'", "urn:example: totals are"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			database := open(t)
			s := database.Connect()
			defer closeStore(t, s)
			if c.statement == "" {
				if got := verified(t, s); got != "" {
					t.Errorf("an empty store: %s", got)
				}
			}
			fill(t, s)
			if c.statement != "" {
				database.Exec(c.statement)
			}
			if got := verified(t, s); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("the problems are %q, want %q", got, c.want)
			}
		})
	}
}

// The times of the versions of a name never decrease, even if the clock does.
func testTimes(t *testing.T, s registry.Store) {
	key := registry.Name("urn:example:a")
	for i, now := range []time.Time{epoch, epoch.Add(-time.Hour), epoch.Add(time.Hour)} {
		write(t, s, func(tx registry.WriteTx) error {
			b := registry.NewBatch(tx, "test", now)
			if _, _, err := b.Put(key, registry.Record{Contact: now.String()}, ""); err != nil {
				return err
			}
			_, err := b.Flush()
			return err
		})
		if e, want := lookup(t, s, key), []time.Time{epoch, epoch, epoch.Add(time.Hour)}[i]; !e.Changed.Equal(want) {
			t.Errorf("version %d is of %s, want %s", e.Version, e.Changed, want)
		}
	}
}

// An equal record makes no version, even if its times are in another zone, or have a higher resolution than the
// stored ones.
func testSame(t *testing.T, s registry.Store) {
	key := registry.Name("urn:example:a")
	record := func(from time.Time) registry.Record {
		return registry.Record{Targets: []registry.Target{{URI: "https://example.org/", From: from}}}
	}
	put(t, s, key, record(epoch))
	put(t, s, key, record(epoch.In(time.FixedZone("", 7200)).Add(time.Microsecond)))
	if e := lookup(t, s, key); e.Version != 1 {
		t.Errorf("an equal record made version %d", e.Version)
	}
	put(t, s, key, record(epoch.Add(time.Second)))
	if e := lookup(t, s, key); e.Version != 2 {
		t.Errorf("another record made version %d, want 2", e.Version)
	}
}
