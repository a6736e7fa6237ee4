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

// Limits of logging about a helper: lines per second, the burst, and bytes per line.
const (
	linesPerSecond = 10
	linesBurst     = 50
	maxErrorLine   = 1 << 10
)

// lineLog logs the standard error of the processes of a helper, their ends, and refused tokens, within a rate limit.
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

// allow returns a logger with an attribute, such as the process or the client, for one more line, unless the rate is
// exceeded. The next line has the number of dropped ones.
func (l *lineLog) allow(key string, value any) (*slog.Logger, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.limit.AllowN(l.now(), 1) {
		l.dropped++
		return nil, false
	}
	log := l.log.With(key, value)
	if l.dropped > 0 {
		log = log.With("not_logged", l.dropped)
		l.dropped = 0
	}
	return log, true
}

// logErrors logs the lines of the standard error of a process, truncated if they are too long, until its end.
func (one *process) logErrors() {
	reader := bufio.NewReaderSize(one.stderr, maxErrorLine)
	for {
		line, err := reader.ReadSlice('\n')
		if text := strings.TrimSpace(string(line)); text != "" {
			one.ending.Lock()
			one.standardError = text
			one.ending.Unlock()
			if log, ok := one.pool.lines.allow("pid", one.cmd.Process.Pid); ok {
				log.Info("helper wrote to standard error", "line", text)
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}
