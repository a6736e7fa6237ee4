package sqlite_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// killedSets is the environment variable, with the file, of a child process that makes and reverts change sets
// until it is killed.
const killedSets = "TEST_KILLED_SETS"

// A group of names has three change sets: one that creates it, one of several transactions, like an import, and
// one that reverts the latter.
const (
	groupNames  = 30
	groupWrites = 3
)

func groupKey(group, i int) registry.Key {
	return registry.Name(fmt.Sprintf("urn:example:%d-%d", group, i))
}

func groupRecord(word string) registry.Record {
	return registry.Record{Targets: []registry.Target{{URI: "https://" + word + ".example/"}}}
}

func killedRegistry(s registry.Store) *registry.Registry {
	same := func(text string) (string, error) { return text, nil }
	return registry.New(registry.Config{Store: s, Now: time.Now, Canonical: same, CanonicalPrefix: same})
}

func administrator() registry.Actor { return registry.Actor{Name: "admin", Role: registry.Admin} }

// TestChangeUntilKilled runs in the child processes of TestChangeSetsKilled.
func TestChangeUntilKilled(t *testing.T) {
	path := os.Getenv(killedSets)
	if path == "" {
		t.Skip("it is a part of TestChangeSetsKilled")
	}
	s := open(t, path)
	r := killedRegistry(s)
	for group := int(time.Now().UnixNano()); ; group++ {
		edits := make([]registry.Edit, groupNames)
		for i := range edits {
			edits[i] = registry.Edit{
				Key: groupKey(group, i), IfVersion: registry.AnyVersion, Note: "made",
				Change: registry.Put(groupRecord("old")),
			}
		}
		if _, err := r.Apply(t.Context(), administrator(), edits...); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acknowledged %d 0 0\n", group)
		set := registry.ChangeSet{Kind: registry.KindImport, By: "admin", Note: fmt.Sprint(group), Time: time.Now()}
		for part := range groupWrites {
			err := s.Write(t.Context(), func(tx registry.WriteTx) error {
				b := registry.NewBatch(tx, "admin", time.Now())
				b.SetChangeSet(set)
				for i := part; i < groupNames; i += groupWrites {
					if _, _, err := b.Put(groupKey(group, i), groupRecord("new"), ""); err != nil {
						return err
					}
				}
				_, err := b.Flush()
				set = b.ChangeSet()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("acknowledged %d %d %d\n", group, set.Number, part+1)
		}
		if _, err := r.Revert(t.Context(), administrator(),
			registry.Revert{Set: set.Number, Note: "reverted"}); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acknowledged %d %d %d\n", group, set.Number, groupWrites+1)
	}
}

// acknowledgedGroup is the last acknowledgement of a process before it was killed.
type acknowledgedGroup struct {
	group int
	set   registry.Seq
	steps int
}

// After kill -9 at any point of change sets and reverts, the chain verifies, each set contains everything that
// was acknowledged, in complete transactions only, and a set that was not yet reverted can be reverted.
func TestChangeSetsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	closed(t, open(t, path))
	reverted := 0
	const rounds = 12
	for range rounds {
		last := killedChanging(t, path)
		s := open(t, path)
		if failures := failuresOf(t, s); len(failures) > 0 {
			t.Fatalf("%+v: %q", last, failures)
		}
		if last.group != 0 {
			reverted += last.check(t, s)
		}
		closed(t, s)
	}
	t.Logf("%d sets were reverted behind the end of their process", reverted)
}

// killedChanging runs a process that makes change sets, and kills it.
func killedChanging(t *testing.T, path string) (last acknowledgedGroup) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChangeUntilKilled$")
	cmd.Env = append(os.Environ(), killedSets+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n, killAt, spins := 0, rand.IntN(20), rand.IntN(200_000)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d %d %d", &last.group, &last.set,
			&last.steps); err != nil {
			t.Fatalf("%q", lines.Text())
		}
		if n++; n == killAt+1 {
			// A random delay varies the point of the write at which the process is killed.
			for range spins {
				_ = rand.Int()
			}
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	return last
}

// check checks the last group of a process, and reverts its change set if that was not done.
func (last *acknowledgedGroup) check(t *testing.T, s registry.Store) (reverted int) {
	t.Helper()
	r := killedRegistry(s)
	var set, back registry.ChangeSet
	err := r.ChangeSets(t.Context(), 0, func(c registry.ChangeSet) bool {
		switch {
		case c.Kind == registry.KindImport && c.Note == fmt.Sprint(last.group):
			set = c
		case c.Reverts != 0 && c.Reverts == set.Number:
			back = c
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	const each = groupNames / groupWrites
	switch {
	case set.Rows%each != 0, set.Rows < int64(each*min(last.steps, groupWrites)), last.set != 0 &&
		set.Number != last.set:
		t.Errorf("%+v: the set is %+v", *last, set)
	case back.Number == 0 && last.steps > groupWrites, back.Number != 0 && back.Rows != set.Rows:
		t.Errorf("%+v: the set is %+v, what reverts it %+v", *last, set, back)
	}
	if set.Number != 0 && back.Number == 0 {
		report, err := r.Revert(t.Context(), administrator(), registry.Revert{Set: set.Number, Note: "behind the end"})
		if err != nil || report.Names != set.Rows || report.Conflicts != 0 {
			t.Errorf("%+v: reverting %+v: %+v, %v", *last, set, report, err)
		}
		reverted++
	}
	for i := range groupNames {
		if e, err := r.Get(t.Context(), groupKey(last.group, i)); err != nil ||
			e.Targets[0].URI != "https://old.example/" {
			t.Errorf("%+v: name %d is %+v, %v", *last, i, e, err)
		}
	}
	return reverted
}
