package sqlite_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// Environment variables of a child process that writes until it is killed: the file, and the number of the
// process.
const (
	killedFile  = "TEST_KILLED_FILE"
	killedRound = "TEST_KILLED_ROUND"
)

// TestWriteUntilKilled runs in the child processes of TestKilled. Each transaction changes two names; their new
// version is printed once it is acknowledged.
func TestWriteUntilKilled(t *testing.T) {
	path := os.Getenv(killedFile)
	if path == "" {
		t.Skip("it is a part of TestKilled")
	}
	s := open(t, path)
	random := rand.New(rand.NewPCG(uint64(len(os.Getenv(killedRound))), uint64(time.Now().UnixNano())))
	for i := 0; ; i++ {
		pair := random.IntN(20)
		var after registry.Entry
		err := s.Write(t.Context(), func(tx registry.WriteTx) error {
			b := registry.NewBatch(tx, "test", time.UnixMilli(int64(1_900_000_000_000+i)).UTC())
			record := registry.Record{
				Contact:  fmt.Sprintf("%s-%d", os.Getenv(killedRound), i),
				Metadata: `{"pad":"` + strings.Repeat("x", random.IntN(5000)) + `"}`,
			}
			var err error
			for _, side := range []string{"left", "right"} {
				if after, _, err = b.Put(registry.Name(fmt.Sprintf("urn:example:%s-%d", side, pair)), record,
					""); err != nil {
					return err
				}
			}
			_, err = b.Flush()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acknowledged %d %d %s\n", pair, after.Version, after.Contact)
	}
}

// After kill -9 at any point of single writes, the file opens, and contains every acknowledged write and no
// partial one.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	path := filepath.Join(t.TempDir(), "registry.db")
	var acknowledged [20]struct {
		version int
		contact string
	}
	total, rounds := 0, 5
	if testserver.Long() {
		rounds = 50
	}
	for round := range rounds {
		total += killedAfter(t, path, round, func(pair, version int, contact string) {
			acknowledged[pair].version, acknowledged[pair].contact = version, contact
		})
		s := open(t, path)
		for pair, want := range acknowledged {
			left, err := s.Lookup(t.Context(), registry.Name(fmt.Sprintf("urn:example:left-%d", pair)))
			if err != nil {
				t.Fatal(err)
			}
			right, err := s.Lookup(t.Context(), registry.Name(fmt.Sprintf("urn:example:right-%d", pair)))
			if err != nil {
				t.Fatal(err)
			}
			// The last write may be present although it was not acknowledged.
			if left.Version != right.Version || left.Contact != right.Contact || left.Version < want.version ||
				left.Version > want.version+1 ||
				left.Version == want.version && left.Contact != want.contact {
				t.Errorf("round %d: pair %d has versions %d and %d, %q and %q; acknowledged was %d, %q",
					round, pair, left.Version, right.Version, left.Contact, right.Contact, want.version, want.contact)
			}
			acknowledged[pair].version, acknowledged[pair].contact = left.Version, left.Contact
		}
		if round%10 == 9 || round == rounds-1 {
			if failures := failuresOf(t, s); len(failures) > 0 {
				t.Errorf("round %d: %q", round, failures)
			}
		}
		closed(t, s)
	}
	if total < rounds {
		t.Errorf("only %d writes were acknowledged in all rounds", total)
	}
	t.Logf("%d writes were acknowledged", total)
}

// killedAfter runs a process that writes, and kills it after a random number of acknowledgements and a random
// time. It returns the number of acknowledgements.
func killedAfter(t *testing.T, path string, round int, acknowledged func(pair, version int, contact string)) (n int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWriteUntilKilled$")
	cmd.Env = append(os.Environ(), killedFile+"="+path, fmt.Sprintf("%s=%d", killedRound, round))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killAt, spins := rand.IntN(300), rand.IntN(200_000)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var pair, version int
		var contact string
		if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d %d %s", &pair, &version, &contact); err != nil {
			t.Fatalf("round %d: %q", round, lines.Text())
		}
		acknowledged(pair, version, contact)
		if n++; n == killAt+1 {
			// A random delay varies the point of the write at which the process is killed.
			for range spins {
				_ = rand.Int()
			}
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	return n
}
