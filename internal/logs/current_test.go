package logs_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"github.com/urnd/urnd/internal/logs"
)

// TestCurrent checks that loggers derived before a change use the level and destination of the new handler,
// with their own attributes.
func TestCurrent(t *testing.T) {
	var before, after strings.Builder
	handler := func(to *strings.Builder, level slog.Level) slog.Handler {
		return slog.NewTextHandler(to,
			&slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
				if len(groups) == 0 && a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})
	}
	current := logs.NewCurrent(handler(&before, slog.LevelInfo))
	log := slog.New(current)
	derived := log.With("a", 1).WithGroup("g").With("b", 2)
	log.Info("one")
	derived.Debug("hidden")
	derived.Info("two", "c", 3)
	current.Set(handler(&after, slog.LevelDebug))
	derived.Debug("three", "c", 3)
	log.Debug("four")
	if got, want := before.String(), "level=INFO msg=one\nlevel=INFO msg=two a=1 g.b=2 g.c=3\n"; got != want {
		t.Errorf("before: %s", got)
	}
	if got, want := after.String(), "level=DEBUG msg=three a=1 g.b=2 g.c=3\nlevel=DEBUG msg=four\n"; got != want {
		t.Errorf("after: %s", got)
	}
}

// TestCurrentIsAHandler runs testing/slogtest.
func TestCurrentIsAHandler(t *testing.T) {
	var text strings.Builder
	if err := slogtest.TestHandler(logs.NewCurrent(slog.NewJSONHandler(&text, nil)), func() (all []map[string]any) {
		for line := range strings.Lines(text.String()) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}); err != nil {
		t.Error(err)
	}
}
