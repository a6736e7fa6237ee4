//go:build e2e

package registry

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// begin starts a command, and returns a channel that receives its error.
func (s store) begin(t *testing.T, args ...string) (*exec.Cmd, <-chan error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), urndtest.Binary(t), s.args(args...)...)
	c.Env = append(os.Environ(), ownUrns()...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	return c, ended
}

// most runs a command, and returns the maximum increase of written bytes during it.
func (s store) most(t *testing.T, args ...string) (most int64) {
	t.Helper()
	before := s.written()
	_, ended := s.begin(t, args...)
	for look := time.NewTicker(100 * time.Microsecond); ; {
		select {
		case err := <-ended:
			if look.Stop(); err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			return max(most, s.written()-before)
		case <-look.C:
			most = max(most, s.written()-before)
		}
	}
}

// killed runs a command, kills it after more written bytes, and reports whether it had not ended before.
func (s store) killed(t *testing.T, more int64, args ...string) bool {
	t.Helper()
	before := s.written()
	c, ended := s.begin(t, args...)
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for s.written()-before < more {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			return false
		case <-look.C:
		}
	}
	_ = c.Process.Kill() // it may have ended
	return <-ended != nil
}

func kills() int {
	if testserver.Long() {
		return 20
	}
	return 1
}

// TestCommandsKilled checks that after kill -9 at any time of any command that changes names the registry is
// consistent, and that the same command continues or restarts: the result equals that of a command that was not
// killed.
func TestCommandsKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		calm, killed := newStore(t, "calm"), newStore(t, "killed")
		n := 1000 // several transactions, which are short at the beginning
		if testserver.Long() {
			n = 11_000
		}
		files := [...]string{table(t, "a", n, "http://old.example/"), table(t, "test:", n/7, "http://old.example/")}
		total := 0
		for _, args := range [][]string{
			{"import", files[0], "--note", "made"},
			{"rewrite", "urn:example:", "--replace", "http://old.example/", "--with", "https://new.example/"},
			{"revert", strconv.Itoa(n + 1), "--note", "wrong"},
			{"set", "urn:example:test:", "--prefix", "--sandbox"},
			{"import", files[1]},
			{"purge", "urn:example:test:", "--yes"},
			{"withdraw", "urn:example:a00001", "urn:example:a00002", "--reason", "an error"},
			{"redact", "urn:example:a00001", "--version", "1", "--version", "2", "--reason", "personal data"},
		} {
			most := calm.most(t, args...)
			for range kills() {
				if !killed.killed(t, rand.Int64N(most+1), args...) {
					break
				}
				total++
				killed.sound(t)
			}
			killed.run(t, args...)
			if got, want := killed.head(t), calm.head(t); got != want {
				t.Fatalf("after %q the last number is %d, undisturbed %d", args, got, want)
			}
		}
		t.Logf("%d commands were killed", total)
		killed.sound(t)
		if got, want := killed.content(t), calm.content(t); got != want {
			t.Errorf("there are %d bytes of versions, undisturbed %d", len(got), len(want))
		}
		// A command that continues creates another change set unless it has recorded its progress.
		got, want := rowsOf(killed.setsOf(t)), rowsOf(calm.setsOf(t))
		if total == 0 || !maps.Equal(got, want) {
			t.Errorf("%d commands were killed; the sets have %v, undisturbed %v", total, got, want)
		}
	})
}

// changeSet is a line of "changes --output json".
type changeSet struct {
	Number, Rows int
	Kind         string
	Reverts      int
}

func (s store) setsOf(t *testing.T) (sets []changeSet) {
	t.Helper()
	for line := range strings.Lines(s.run(t, "changes", "--output=json")) {
		var set changeSet
		if err := json.Unmarshal([]byte(line), &set); err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	return sets
}

// rowsOf returns the number of rows in the change sets of each kind.
func rowsOf(sets []changeSet) map[string]int {
	rows := make(map[string]int)
	for _, set := range sets {
		rows[set.Kind] += set.Rows
	}
	return rows
}

// TestHandingOutKilled checks that a command killed while it mints names has handed out all or none, and that
// no name is handed out twice.
func TestHandingOutKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		calm, killed := newStore(t, "calm"), newStore(t, "killed")
		mint := []string{"mint", "-n", "500", "urn:example:m-{counter}"}
		create := []string{"token", "create", "--name", "catalogue", "--role", "writer"}
		for _, s := range []store{calm, killed} {
			s.run(t, "set", "urn:example:a", "https://example.org/a")
		}
		most := calm.most(t, mint...)
		reserved := 0
		for range kills() {
			killed.killed(t, rand.Int64N(most+1), mint...)
			killed.sound(t)
			now := killed.head(t) - 1
			if now != reserved && now != reserved+500 {
				t.Errorf("of 500 names %d are reserved", now-reserved)
			}
			reserved = now
		}
		names := killed.run(t, mint...)
		if first, _, _ := strings.Cut(names, "\n"); first != "urn:example:m-"+strconv.Itoa(reserved+1) ||
			strings.Count(names, "\n") != 500 {
			t.Errorf("after %d names those from %s on are printed", reserved, first)
		}
		most = calm.most(t, create...)
		for range kills() {
			killed.killed(t, rand.Int64N(most+1), create...)
			killed.sound(t)
		}
		before := strings.Count(killed.run(t, "token", "list", "--output=json"), "\n")
		killed.run(t, create...)
		if after := strings.Count(killed.run(t, "token", "list", "--output=json"), "\n"); after != before+1 ||
			after > kills()+1 {
			t.Errorf("there were %d tokens, and are %d", before, after)
		}
		killed.sound(t)
	})
}

// TestRestoreKilled checks that a killed restore leaves the registry unchanged or equal to the backup, and that
// the same command can be restarted.
func TestRestoreKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		from := newStore(t, "original")
		from.run(t, "import", table(t, "a", 3000, "https://example.org/"))
		dir := t.TempDir()
		backups := []string{filepath.Join(dir, "names.ndjson.zst")}
		from.run(t, "backup", "--portable", backups[0])
		if from.file != "" {
			backups = append(backups, filepath.Join(dir, "names.db"))
			from.run(t, "backup", backups[1])
		}
		want := from.content(t)
		for i, backup := range backups {
			most := newStore(t, "calm"+strconv.Itoa(i)).most(t, "restore", backup)
			killed, was := newStore(t, "killed"+strconv.Itoa(i)), 0
			if killed.file != "" { // a database must be empty
				killed.run(t, "set", "urn:example:before", "https://example.org/before")
				was = 1
			}
			for range kills() {
				if !killed.killed(t, rand.Int64N(most+1), "restore", backup) {
					break
				}
				killed.sound(t)
				if head := killed.head(t); head == 3000 {
					break
				} else if head != was {
					t.Fatalf("the last number is %d", head)
				}
			}
			again := killed.try(t, "restore", backup)
			if again.Status != 0 && (killed.file != "" || !strings.Contains(again.Err, "the registry is not empty")) {
				t.Errorf("the same command: %+v", again)
			}
			killed.sound(t)
			if got := killed.content(t); got != want {
				t.Errorf("there are %d bytes of versions, want %d", len(got), len(want))
			}
			if left, _ := filepath.Glob(killed.file + ".restore*"); killed.file != "" && len(left) > 0 {
				t.Errorf("there is %q", left)
			}
		}
	})
}

// TestKilledImportIsReverted checks that an import killed between its transactions is a change set with the
// written names, and can be reverted.
func TestKilledImportIsReverted(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		s := newStore(t, "cut")
		s.run(t, "set", "urn:example:before", "https://example.org/before")
		const n = 5000
		file := table(t, "a", n, "https://example.org/")
		other := s.open(t)
		head := func() registry.Seq {
			t.Helper()
			head, err := other.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return head
		}
		c, ended := s.begin(t, "import", file)
		for head() == 1 && len(ended) == 0 {
			runtime.Gosched()
		}
		_ = c.Process.Kill() // it may have ended
		<-ended
		written := head() - 1
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		s.sound(t)
		sets := s.setsOf(t)
		if len(sets) != 2 || sets[1].Kind != "import" || sets[1].Rows != int(written) || written == 0 {
			t.Fatalf("of %d names %d are written, and the sets are %+v", n, written, sets)
		}
		s.run(t, "revert", strconv.Itoa(sets[1].Number), "--note", "cut off")
		s.sound(t)
		out := s.run(t, "export")
		if withdrawn := strings.Count(out, `"status":"withdrawn"`); withdrawn != int(written) ||
			strings.Count(out, "\n") != withdrawn+1 {
			t.Errorf("of %d names of the import %d are withdrawn", written, withdrawn)
		}
	})
}
