package accesslog

import (
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWriteState(t *testing.T) {
	var log strings.Builder
	now := time.Unix(1, 0)
	s := &writeState{log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }}
	seen := 0
	for _, tt := range []struct {
		name     string
		ahead    time.Duration
		err      error
		logs     string
		degraded bool
	}{
		{"the first line", 0, nil, "", false},
		{"full", 0, syscall.ENOSPC, "no space left", true},
		{"still full", 0, syscall.ENOSPC, "", true},
		{"a short line fits", time.Second, nil, "", false},
		{"the next does not", time.Second, syscall.ENOSPC, "", true},
		{"a minute later", time.Minute, errors.New("broken"), "broken", true},
		{"there is room", time.Minute, nil, "succeeded again", false},
		{"there is room", time.Minute, nil, "", false},
		{"full again", time.Second, syscall.ENOSPC, "no space left", true},
	} {
		now = now.Add(tt.ahead)
		s.wrote(tt.err)
		text := log.String()[seen:]
		seen += len(text)
		if (tt.logs == "") != (text == "") || !strings.Contains(text, tt.logs) ||
			(len(s.failures()) > 0) != tt.degraded {
			t.Errorf("%s: %q, %q", tt.name, text, s.failures())
		}
	}
}
