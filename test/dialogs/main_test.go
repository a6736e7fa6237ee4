//go:build e2e

package dialogs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/test/urndtest"
)

var (
	update = flag.Bool("update", false, "write what was played into testdata, instead of comparing it")
	only   = flag.String("families", "", "play only these families, joined by commas; empty: all")
	show   = flag.Int("show", 5, "print the differences of so many dialogs of a family")
)

// together is the number of families played concurrently. Each has its own daemon and peers.
const together = 4

// slow is the duration from which a dialog is reported: most take a millisecond.
const slow = time.Second

// TestDialogs plays all families and compares each with its recording.
func TestDialogs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all addresses of 127.0.0.0/8 and /proc/net/tcp")
	}
	began := time.Now()
	template, err := newTemplate(urndtest.Binary(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer unusedBodies(t)
	var mu sync.Mutex
	var dialogs, responses, differing int
	slots := make(chan struct{}, together)
	t.Run("family", func(t *testing.T) {
		var all sync.WaitGroup
		defer all.Wait()
		for _, f := range families() {
			if !selected(f.name) {
				continue
			}
			all.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				t.Run(f.name, func(t *testing.T) {
					records, err := f.playAll(template, t.TempDir())
					if err != nil {
						t.Fatal(err)
					}
					n := compareFamily(t, f, records)
					mu.Lock()
					defer mu.Unlock()
					dialogs, differing = dialogs+len(records), differing+n
					for _, r := range records {
						responses += r.responses
						if r.took > slow {
							t.Logf("%q took %s", r.name, r.took.Round(10*time.Millisecond))
						}
					}
				})
			})
		}
	})
	t.Logf("%d dialogs with %d responses in %s, %d dialogs differ", dialogs, responses,
		time.Since(began).Round(100*time.Millisecond), differing)
}

// template contains the parts shared by all worlds: the binary, the store of the registry and the certificate.
type template struct{ binary, store, directory string }

func newTemplate(binary, directory string) (*template, error) {
	made := &template{binary: binary, store: filepath.Join(directory, "names.db"), directory: directory}
	names, err := namesOfWorld()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(directory, "names.ndjson")
	if err := os.WriteFile(file, names, 0o600); err != nil {
		return nil, err
	}
	load := exec.Command(made.binary, "registry", "import", "--allow-unresolvable", "--config", "", "--store",
		"sqlite:"+made.store, file)
	if output, err := load.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("importing %s: %w\n%s", file, err, output)
	}
	return made, writeCertificate(directory)
}

func TestMain(m *testing.M) { urndtest.Main(m) }
