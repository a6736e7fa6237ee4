package rename_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/rename"
)

// killedFile is the environment of a process that migrates until it is killed: the file.
const killedFile = "TEST_KILLED_FILE"

// killedNames are renamed in transactions of 500, with kills on the way.
func killedNames() int {
	if testserver.Long() {
		return 6000
	}
	return 2000
}

// killedWithin is how many names a process reports at most before it is killed.
const killedWithin = 700

// TestMigrateUntilKilled is what the processes of TestKilled do.
func TestMigrateUntilKilled(t *testing.T) {
	path := os.Getenv(killedFile)
	if path == "" {
		t.Skip("it is a part of TestKilled")
	}
	run := rename.Run{Config: rename.Config{Registry: opened(t, path), TempDir: filepath.Dir(path)}, Actor: registry.Actor{Role: registry.Admin}}
	run.Report = func(a rename.Action) error {
		_, err := fmt.Printf("renamed %200s\n", a.Name) // so long that the pipe has place for less than a transaction: it does not run ahead
		return err
	}
	if _, err := run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// After kill -9 at any moment of a migration each name is there by one of both names, the chain holds, and another run goes on with it.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	r := opened(t, path)
	records := make(map[registry.Key]registry.Record)
	for i := range killedNames() {
		records[registry.Name(fmt.Sprintf("ark:/12345/a-%d", i))] = to(fmt.Sprint(i))
	}
	stored(t, r, records)
	rounds, renamed := 0, 0
	for ; rounds < 100 && renamed < killedNames(); rounds++ {
		killed(t, path)
		if faults := faultsOf(t, r); len(faults) > 0 {
			t.Fatalf("round %d: %q", rounds, faults)
		}
		renamed = 0
		for i := range killedNames() {
			was, now := registry.Name(fmt.Sprintf("ark:/12345/a-%d", i)), registry.Name(fmt.Sprintf("ark:/12345/a%d", i))
			before, err := r.Store().Lookup(t.Context(), was)
			if err != nil {
				t.Fatal(err)
			}
			after, err := r.Store().Lookup(t.Context(), now)
			switch {
			case err != nil:
				t.Fatal(err)
			case before.Exists() == after.Exists():
				t.Fatalf("round %d: %s is %+v and %+v", rounds, was, before, after)
			case after.Exists():
				renamed++
			}
		}
	}
	if rounds < 2 || renamed < killedNames() {
		t.Errorf("%d rounds have renamed %d", rounds, renamed)
	}
	t.Logf("%d rounds", rounds)
}

// killed runs a process that migrates, and kills it.
func killed(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestMigrateUntilKilled$")
	cmd.Env = append(os.Environ(), killedFile+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killAt, spins, n := rand.IntN(killedWithin), rand.IntN(200_000), 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n++; n == killAt+1 {
			for range spins { // so that it is at another point of its write each time
				_ = rand.Int()
			}
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
}
