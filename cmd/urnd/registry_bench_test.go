package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli/store"
	"github.com/urnd/urnd/resolver/registry"
)

// Environment variables of TestBenchRegistry: the number of names, the store, and in its child processes, the
// stage.
const (
	benchNames = "BENCH_REGISTRY"
	benchStore = "BENCH_REGISTRY_STORE"
	benchStage = "BENCH_REGISTRY_STAGE"
)

// TestBenchRegistry measures a store with many names: see make bench-registry. Each stage is a separate
// process, so that its memory is that of a fresh one.
func TestBenchRegistry(t *testing.T) {
	if os.Getenv(benchNames) == "" {
		t.Skip(benchNames + " is not set: make bench-registry sets it")
	}
	b := &registryBench{t: t, names: benchCount(t, os.Getenv(benchNames)), store: os.Getenv(benchStore)}
	if b.store == "" {
		b.store = "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	}
	if stage := os.Getenv(benchStage); stage != "" {
		b.stage(stage)
		return
	}
	b.child("open") // an empty store
	b.child(fmt.Sprintf("import 0 %d", b.names))
	if path, ok := strings.CutPrefix(b.store, "sqlite:"); ok {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%.0f bytes per name", float64(info.Size())/float64(b.names))
	}
	b.child("open")
	for _, readers := range []int{1, 2} {
		b.child(fmt.Sprintf("lookup %d", readers))
	}
	b.child("write")
	for i, stage := range []string{"lookup 1", "lookup 2", "write"} {
		done := make(chan struct{})
		beside := max(b.names/10, 1)
		go func() {
			defer close(done)
			b.child(fmt.Sprintf("import %d %d", b.names+i*beside, beside))
		}()
		b.child(stage)
		<-done
	}
}

func benchCount(t *testing.T, text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, not a number of names", benchNames, text)
	}
	return n
}

type registryBench struct {
	t     *testing.T
	names int
	store string
}

// child runs a stage in a separate process, and logs its results.
func (b *registryBench) child(stage string) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestBenchRegistry$", "-test.timeout=0", "-test.v")
	if p := os.Getenv("BENCH_REGISTRY_PROFILE"); p != "" {
		cmd.Args = append(cmd.Args, "-test.cpuprofile="+p+"-"+strings.ReplaceAll(stage, " ", "-"))
	}
	cmd.Env = append(os.Environ(), benchStage+"="+stage, benchStore+"="+b.store)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Errorf("%s: %v\n%s", stage, err, out)
		return
	}
	for line := range strings.Lines(string(out)) {
		if _, measured, ok := strings.Cut(line, "measured: "); ok {
			b.t.Logf("%s: %s", stage, strings.TrimSpace(measured))
		}
	}
}

func (b *registryBench) stage(stage string) {
	fields := append(strings.Fields(stage), "0", "0")
	first, second := benchNumber(fields[1]), benchNumber(fields[2])
	switch fields[0] {
	case "open":
		b.opening()
	case "import":
		b.imported(first, second)
	case "lookup":
		b.lookedUp(first)
	case "write":
		b.written()
	}
}

func benchNumber(text string) int { n, _ := strconv.Atoi(text); return n }

func (b *registryBench) report(format string, args ...any) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.t.Fatal(err)
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano()).Round(time.Millisecond)
	b.t.Logf("measured: "+format+", %v of CPU, %d MB resident, %d at most",
		append(args, cpu, status(b.t, "VmRSS")>>10, status(b.t, "VmHWM")>>10)...)
}

// status returns a value of this process' status, in KiB.
func status(t *testing.T, name string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return benchNumber(strings.Fields(value)[0])
		}
	}
	return 0
}

func (b *registryBench) open() registry.Store {
	s, err := store.Open(context.Background(), config.Registry{Store: b.store})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *registryBench) opening() {
	var took []time.Duration
	for range 20 {
		start := time.Now()
		s := b.open()
		if _, err := s.Lookup(b.t.Context(), registry.Name(benchName(1))); err != nil {
			b.t.Fatal(err)
		}
		took = append(took, time.Since(start))
		s.Close()
	}
	slices.Sort(took)
	b.report("opened, and one name looked up, in %v (median of 20; %v at most)", took[10], took[19])
}

// benchName returns the name with number i, of 40 bytes. Names sort by their numbers.
func benchName(i int) string { return fmt.Sprintf("urn:nbn:fi-fe2024%012d-thesis-pdf", i) }

// benchRecord returns the record of a name, with 1.3 targets on average.
func benchRecord(i int) registry.Record {
	r := registry.Record{Targets: []registry.Target{{URI: fmt.Sprintf("https://www.example.fi/handle/10024/%d", i)}}}
	if i%10 < 3 {
		r.Targets = append(r.Targets,
			registry.Target{URI: fmt.Sprintf("https://www.example.fi/bitstream/%d.pdf", i), Type: "application/pdf"})
	}
	return r
}

const benchTransaction = 10_000

// imported imports n names in order, beginning with number from.
func (b *registryBench) imported(from, n int) {
	s := b.open()
	defer s.Close()
	start := time.Now()
	for i := from; i < from+n; i += benchTransaction {
		err := s.Bulk(b.t.Context(),
			func(tx registry.WriteTx) error { return benchBatch(tx, i, min(i+benchTransaction, from+n)) })
		if err != nil {
			b.t.Fatal(err)
		}
	}
	took := time.Since(start)
	b.report("%d names in %v, %.0f a second", n, took.Round(time.Millisecond), float64(n)/took.Seconds())
}

func benchBatch(tx registry.WriteTx, from, to int) error {
	keys := make([]registry.Key, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, registry.Name(benchName(i)))
	}
	batch := registry.NewBatch(tx, "bench", time.Unix(1_900_000_000, 0).UTC())
	if err := batch.Load(keys); err != nil {
		return err
	}
	for i, key := range keys {
		if _, _, err := batch.Put(key, benchRecord(from+i), ""); err != nil {
			return err
		}
	}
	_, err := batch.Flush()
	return err
}

// lookedUp looks up random names with a number of concurrent readers.
func (b *registryBench) lookedUp(readers int) {
	const each = 200_000
	s := b.open()
	defer s.Close()
	took := make([]time.Duration, readers*each)
	var wg sync.WaitGroup
	start := time.Now()
	for r := range readers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(r), 1))
			for i := range each {
				name := benchName(random.IntN(b.names))
				start := time.Now()
				e, err := s.Lookup(b.t.Context(), registry.Name(name))
				took[r*each+i] = time.Since(start)
				if err != nil || !e.Exists() {
					b.t.Errorf("%s: %+v, %v", name, e, err)
					return
				}
			}
		})
	}
	wg.Wait()
	rate := float64(len(took)) / time.Since(start).Seconds()
	b.report("%s, %.0f a second", percentiles(took), rate)
}

func percentiles(took []time.Duration) string {
	slices.Sort(took)
	at := func(part float64) float64 { return float64(took[int(part*float64(len(took)))].Nanoseconds()) / 1000 }
	return fmt.Sprintf("p50 %.0f, p99 %.0f, p99.9 %.0f µs", at(.5), at(.99), at(.999))
}

// written writes single names durably.
func (b *registryBench) written() {
	const n = 5000
	s := b.open()
	defer s.Close()
	// Other contacts than those of another process: equal ones are no change.
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 7))
	took := make([]time.Duration, n)
	started := time.Now()
	for w := range n {
		start := time.Now()
		i := random.IntN(b.names)
		err := s.Write(b.t.Context(), func(tx registry.WriteTx) error {
			batch := registry.NewBatch(tx, "bench", time.Now())
			record := benchRecord(i)
			record.Contact = strconv.Itoa(random.Int())
			if _, _, err := batch.Put(registry.Name(benchName(i)), record, ""); err != nil {
				return err
			}
			_, err := batch.Flush()
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
		took[w] = time.Since(start)
	}
	b.report("%s, %.0f durable changes of single names a second", percentiles(took), n/time.Since(started).Seconds())
}
