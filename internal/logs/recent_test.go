package logs_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/logs"
)

// keeping returns a log whose warnings are recorded, and the path of its file.
func keeping(t testing.TB, level slog.Level) (log *slog.Logger, recent *logs.Recent, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	recent = new(logs.Recent)
	handler, err := logs.NewHandler(logs.Config{
		Format: "json", Level: level, Recent: recent,
		Explain: func(err error) error {
			return fmt.Errorf("helped: %w", err)
		},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return slog.New(handler), recent, path
}

// failures returns the recorded warnings without times, most recent first.
func failures(r *logs.Recent) (all []string) {
	for _, f := range r.Records() {
		all = append(all, fmt.Sprintf("%s %s [%s] %d %d", f.Level, f.Message, f.Attributes, f.Count, f.Others))
	}
	return all
}

func TestRecent(t *testing.T) {
	log, recent, path := keeping(t, slog.LevelError)
	log.Info("hidden")
	log.With("a", 1).WithGroup("g").With("b", "http://u:secret@a.example/").Warn("at http://u:secret@b.example/", "c",
		errors.New("broken\r\n"), slog.Group("h", "d", true))
	log.Error("failed", "name", slog.GroupValue(slog.Int("e", 5)))
	for range 3 {
		log.Warn("again", "client", "192.0.2.1")
	}
	log.Error("failed", "name", slog.GroupValue(slog.Int("e", 5)))
	want := []string{
		"ERROR failed [name.e=5] 2 0",
		"WARN again [client=192.0.2.1] 3 0",
		"WARN at http://u:xxxxx@b.example/ [a=1 g.b=http://u:xxxxx@a.example/ g.c=helped: broken   g.h.d=true] 1 0",
	}
	if got := failures(recent); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
	for _, f := range recent.Records() {
		if f.First.IsZero() || f.Last.Before(f.First) {
			t.Errorf("%+v", f)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 2 || strings.Contains(string(text), "WARN") {
		t.Errorf("the log has other levels: %v %s", err, text)
	}
	if none := (*logs.Recent)(nil).Records(); none != nil {
		t.Errorf("%v", none)
	}
}

// TestRecentIsBounded checks that frequent records caused by clients neither exhaust the memory nor displace
// rare ones.
func TestRecentIsBounded(t *testing.T) {
	log, recent, _ := keeping(t, slog.LevelError)
	log.Warn("once", "long", strings.Repeat("ä", 1000), "longer", strings.Repeat("x", 1000), "more",
		strings.Repeat("y", 1000), "most", strings.Repeat("z", 1000))
	for i := range 10_000 {
		log.Warn("often", "client", i)
	}
	got := failures(recent)
	if len(got) != 4 || !strings.HasPrefix(got[0], "WARN often [client=9999] 1 9997") {
		t.Errorf("%q", got)
	}
	counted := uint64(0)
	for _, f := range recent.Records()[:3] {
		counted += f.Count + f.Others
	}
	if counted != 10_000 {
		t.Errorf("%d were counted: %q", counted, got)
	}
	once := recent.Records()[3]
	if most := 700; once.Message != "once" || len(once.Attributes) > most || !utf8.ValidString(once.Attributes) ||
		strings.Contains(once.Attributes, "\ufffd") {
		t.Errorf("%d %q", len(once.Attributes), once.Attributes)
	}
	for i := range 3 * logs.MaxRecent {
		log.Error(fmt.Sprint("message ", i))
	}
	if got := failures(recent); len(got) != logs.MaxRecent ||
		!strings.HasPrefix(got[0], fmt.Sprint("ERROR message ", 3*logs.MaxRecent-1)) {
		t.Errorf("%d: %q", len(got), got[0])
	}
}

func TestRecentConcurrently(t *testing.T) {
	log, recent, _ := keeping(t, slog.LevelError+1)
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for range 100 {
				log.Warn("one", "i", i%3)
				_ = recent.Records()
			}
		})
	}
	running.Wait()
	counted := uint64(0)
	for _, f := range recent.Records() {
		counted += f.Count
	}
	if counted != 800 {
		t.Errorf("%d: %q", counted, failures(recent))
	}
}

func BenchmarkRecent(b *testing.B) {
	log, _, _ := keeping(b, slog.LevelError+1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		log.Warn("a request failed", "client", i, "url", "http://a.example/", "error", errors.New("broken"))
	}
}
