package bulk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// many returns unsorted CSV of n names. Some have two lines, some are aliases, and some are invalid.
func many(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("name,target,alias\n")
	for i := range 2 * n {
		k := r.IntN(n)
		switch {
		case i%100 == 50:
			b.WriteString("nonsense,,\n")
		case k%10 == 0:
			fmt.Fprintf(&b, "urn:nbn:fi:a-%d,,urn:nbn:fi:a-%d\n", k, k+1)
		default:
			fmt.Fprintf(&b, "urn:nbn:fi:a-%d,https://example.org/%d,\n", k, r.IntN(10))
		}
	}
	return b.String()
}

// An interrupted import continues after the last written unit, keeps its start time, and ends with the same
// result as an uninterrupted one.
func TestContinue(t *testing.T) {
	text := many(1000)
	path := filepath.Join(t.TempDir(), "registry.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := epoch
	r := registryOf(t, store, func() time.Time { now = now.Add(time.Hour); return now })
	i := bulk.Import{Registry: r, Actor: admin, Source: "names.csv", Transaction: 100, TempDir: t.TempDir()}
	undisturbed := bulk.Report{}
	runs := 0
	for done := false; !done; runs++ {
		ctx, cancel := context.WithCancel(t.Context())
		written := 0
		i.Progress = func(p bulk.Progress) {
			if p.Stage == bulk.Writing {
				if written++; written == 2 {
					cancel()
				}
			}
		}
		report, err := i.Run(ctx, strings.NewReader(text))
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if report.Continued != (runs > 0) {
			t.Errorf("run %d: %+v", runs, report)
		}
		done, undisturbed = err == nil, report
	}
	if runs < 3 {
		t.Errorf("there were only %d runs", runs)
	}
	other := registryOf(t, openFile(t, filepath.Join(t.TempDir(), "other.db")).Store(),
		func() time.Time { return epoch.Add(time.Hour) })
	report, _ := imported(t, bulk.Import{Registry: other}, text)
	undisturbed.Continued = false
	if fmt.Sprint(report) != fmt.Sprint(undisturbed) {
		t.Errorf("the report is %+v, undisturbed %+v", undisturbed, report)
	}
	o := bulk.ExportOptions{History: true}
	if a, b := exported(t, r, o), exported(t, other, o); a != b {
		t.Errorf("the registry is\n%s\nundisturbed\n%s", a, b)
	}
	// It has ended: the same file counts as new input, and so does other content.
	i.Progress = nil
	if report, _ := imported(t, i, text); report.Continued || report.Changed+report.New != 0 {
		t.Errorf("after the end: %+v", report)
	}
}

// Other content is not continued, even with the same source name.
func TestOtherContent(t *testing.T) {
	r := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	i := bulk.Import{Registry: r, Actor: admin, Source: "names.csv", Transaction: 100, Progress: func(p bulk.Progress) {
		if p.Stage == bulk.Writing {
			cancel()
		}
	}}
	if _, err := i.Run(ctx, strings.NewReader(many(1000))); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	i.Progress, i.Overwrite = nil, true
	report, _ := imported(t, i, many(900))
	if report.Continued || report.Names < 700 {
		t.Errorf("the report is %+v", report)
	}
}

// An import with another option is not continued: lines that were rejected before would stay rejected.
func TestOtherOption(t *testing.T) {
	store := openFile(t, filepath.Join(t.TempDir(), "registry.db")).Store()
	config := configOf(t, store, func() time.Time { return epoch })
	config.OwnedPrefixes = []string{"urn:nbn:fi:b"}
	ctx, cancel := context.WithCancel(t.Context())
	i := bulk.Import{
		Registry: registry.New(config), Actor: admin, Source: "names.csv", Transaction: 1,
		Progress: func(p bulk.Progress) {
			if p.Stage == bulk.Writing {
				cancel()
			}
		},
	}
	text := "name,target\nurn:nbn:fi:a,https://example.org/\n"
	for n := range 100 {
		text += fmt.Sprintf("urn:nbn:fi:b-%d,https://example.org/\n", n)
	}
	if report, err := i.Run(ctx, strings.NewReader(text)); !errors.Is(err, context.Canceled) || report.Rejected != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	i.Progress, i.AllowUnresolvable = nil, true
	if report, _ := imported(t, i, text); report.Continued || report.Names != 101 || report.Rejected != 0 {
		t.Errorf("the report is %+v", report)
	}
}

// TestKillChild is the child process of TestKill, which imports a file.
func TestKillChild(t *testing.T) {
	dir := os.Getenv("URND_IMPORT_CHILD")
	if dir == "" {
		t.Skip("it is run by TestKill")
	}
	f, err := os.Open(filepath.Join(dir, "names.csv"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	r := registryOf(t, store, time.Now)
	i := bulk.Import{
		Registry: r, Actor: admin, Source: "names.csv", Transaction: 500, TempDir: dir,
		Progress: func(p bulk.Progress) {
			fmt.Println("progress", p.Stage, p.Lines, p.Done)
		},
	}
	if _, err := i.Run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// An import that is killed at random moments leaves no partially written version, and ends with the same
// result as an uninterrupted one.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	kills, names := 3, 10_000
	if testserver.Long() {
		kills, names = 30, 40_000
	}
	text := many(names)
	reports := 2*names/1000 + names/500 // of both stages
	var dir string
	for killed := 0; killed < kills; {
		dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "names.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for {
			after := rand.IntN(reports)
			if killed == kills {
				after = math.MaxInt
			}
			ended := killAfter(t, dir, after)
			checkKilled(t, dir)
			if ended {
				break
			}
			killed++
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "urnd-import-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	r := openFile(t, filepath.Join(dir, "registry.db"))
	first, err := r.List(t.Context(), registry.KindName, "", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	started := first[0].Changed
	other := registryOf(t, open(t).Store(), func() time.Time { return started })
	imported(t, bulk.Import{Registry: other}, text)
	o := bulk.ExportOptions{History: true}
	if a, b := exported(t, r, o), exported(t, other, o); a != b {
		t.Errorf("the registry has %d bytes, undisturbed %d", len(a), len(b))
	}
}

// killAfter runs the child, and kills it shortly after it has reported progress the given number of times. It
// reports whether the child ended before.
func killAfter(t *testing.T, dir string, reports int) bool {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	child.Env = append(os.Environ(), "URND_IMPORT_CHILD="+dir)
	var reported strings.Builder
	child.Stderr = &reported
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	killed, spins := false, rand.IntN(2_000_000)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch {
		case !strings.HasPrefix(lines.Text(), "progress "):
			fmt.Fprintln(&reported, lines.Text())
		case reports > 0:
			reports--
		case !killed:
			for range spins { // vary the point of interruption
				_ = rand.Int()
			}
			killed = child.Process.Kill() == nil
		}
	}
	err = child.Wait()
	if err != nil && !killed {
		t.Fatalf("the import: %v\n%s", err, reported.String())
	}
	return err == nil
}

// checkKilled checks that all entries are readable, and that the totals match the entries.
func checkKilled(t *testing.T, dir string) {
	t.Helper()
	r := openFile(t, filepath.Join(dir, "registry.db"))
	names := strings.Count(exported(t, r, bulk.ExportOptions{History: true}), "\n")
	var totals map[string]registry.Totals
	err := r.Store().Read(t.Context(), func(tx registry.Tx) (err error) {
		totals, err = tx.Totals()
		return err
	})
	if counted := totals["urn:nbn"]; err != nil || counted.Active != int64(names) {
		t.Errorf("%d names, and the totals are %+v, %v", names, counted, err)
	}
}
