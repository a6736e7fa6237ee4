package systemd

import (
	"errors"
	"log/slog"
	"maps"
	"testing"

	"github.com/coreos/go-systemd/v22/journal"
)

func TestJournal(t *testing.T) {
	var message string
	var priority journal.Priority
	var fields map[string]string
	options := slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.String() == "secret" {
			a.Value = slog.StringValue("hidden")
		}
		return a
	}}
	log := slog.New(&Journal{options: options, send: func(m string, p journal.Priority, f map[string]string) error {
		message, priority, fields = m, p, f
		return nil
	}})
	log.With("service", "127.0.0.1:1").WithGroup("dns").Warn("request failed", "status", 502, "error",
		errors.New(`no "answer"`), slog.Group("in", "key",
			"secret"), "3d-time", "")
	want := map[string]string{
		"SERVICE": "127.0.0.1:1", "DNS_STATUS": "502", "DNS_ERROR": `no "answer"`,
		"DNS_IN_KEY": "hidden", "DNS_3D_TIME": "",
	}
	if !maps.Equal(fields, want) || priority != journal.PriWarning {
		t.Errorf("fields %q, priority %d", fields, priority)
	}
	if want := `request failed service=127.0.0.1:1 dns.status=502 dns.error="no \"answer\"" dns.in.key=hidden dns.3d-time=""`; message != want {
		t.Errorf("message %s", message)
	}
	message = ""
	if log.Debug("quiet"); message != "" {
		t.Error("a record below the level is written")
	}
}

func TestFieldName(t *testing.T) {
	for name, want := range map[string]string{
		"a": "A", "3d": "D", "_x": "X", "message": "URND_MESSAGE", "priority": "URND_PRIORITY", "": "URND_",
		"a-b.ü": "A_B__",
	} {
		if got := fieldName(name); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
}
