package helper

import (
	"bufio"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Bounds of what a helper has logged: lines a second, a few more at a time, and bytes of a line.
const (
	linesPerSecond = 10
	linesBurst     = 50
	maxErrorLine   = 1 << 10
)

// lineLog logs what processes of a helper write to their standard error, and what becomes of them, within a bound per second.
type lineLog struct {
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	limit   *rate.Limiter
	dropped int
}

func newLineLog(c Config) *lineLog {
	return &lineLog{log: c.Log.With("helper", c.Name), now: c.Now, limit: rate.NewLimiter(linesPerSecond, linesBurst)}
}

func (l *lineLog) info(message string, pid int, more ...any) {
	l.write(l.log.Info, message, pid, more)
}

func (l *lineLog) warn(message string, pid int, more ...any) {
	l.write(l.log.Warn, message, pid, more)
}

func (l *lineLog) write(write func(string, ...any), message string, pid int, more []any) {
	l.mu.Lock()
	ok, dropped := l.limit.AllowN(l.now(), 1), l.dropped
	if ok {
		l.dropped = 0
	} else {
		l.dropped++
	}
	l.mu.Unlock()
	if !ok {
		return
	}
	if dropped > 0 {
		more = append(more, "not_logged", dropped)
	}
	write(message, append([]any{"pid", pid}, more...)...)
}

// logErrors logs the standard error of a process by lines, the beginning of those that are too long, until it ends.
func (one *process) logErrors() {
	reader := bufio.NewReaderSize(one.stderr, maxErrorLine)
	for {
		line, err := reader.ReadSlice('\n')
		if text := strings.TrimSpace(string(line)); text != "" {
			one.ending.Lock()
			one.said = text
			one.ending.Unlock()
			one.pool.lines.info("a helper says", one.cmd.Process.Pid, "line", text)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}
