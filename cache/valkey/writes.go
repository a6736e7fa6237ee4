package valkey

import (
	"context"
	"strings"
	"time"

	client "github.com/valkey-io/valkey-go"
)

const (
	maxWrites = 1024     // that wait
	maxQueued = 16 << 20 // octets of objects that wait
	maxBatch  = 64       // that are sent at once
)

// write is what is to be written after a load.
type write struct {
	keys  []string // of the entry and its lease
	token string   // of the lease, which is released; "" for none
	kept  bool     // the entry is left as it is: only the lease is released, or renewed
	renew bool     // the lease
	until time.Time
	size  int           // of what seal holds, in octets, where that is much
	seal  func() []byte // returns the entry, nil where it is not to be shared; nil deletes what is there
}

// offer puts a write into the queue, and never waits: where that is full, or the server does not answer, it is dropped.
func (l *Level) offer(w write) {
	if w.kept && w.token == "" {
		return
	}
	if l.isOpen.Load() {
		if l.queued.Add(int64(w.size)) <= maxQueued {
			select {
			case l.writes <- w:
				return
			default:
			}
		}
		l.queued.Add(-int64(w.size))
	}
	l.counts.dropped.Add(1)
}

// write writes what is in the queue until ctx ends.
func (l *Level) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-l.writes:
			batch := append(make([]write, 0, maxBatch), w)
			for len(batch) < maxBatch && len(l.writes) > 0 {
				batch = append(batch, <-l.writes)
			}
			l.send(ctx, batch)
			for _, w := range batch {
				l.queued.Add(-int64(w.size))
			}
		}
	}
}

// send writes several at once.
func (l *Level) send(ctx context.Context, batch []write) {
	if !l.isOpen.Load() {
		l.counts.dropped.Add(uint64(len(batch)))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	server := l.server.Load()
	var sent []client.LuaExec
	stored := make([]bool, len(batch))
	for i, w := range batch {
		args := []string{w.token, "-", "", ""}
		if w.renew {
			args[3] = milliseconds(leaseFor)
		}
		if !w.kept {
			args[1], args[2] = l.sealed(w)
			stored[i] = args[1] != "" && args[1] != "-"
		}
		sent = append(sent, client.LuaExec{Keys: w.keys, Args: args})
	}
	for i, result := range l.scripts.write.ExecMulti(ctx, server, sent...) {
		err := result.Error()
		switch {
		case err != nil && isFull(err):
			l.counts.full.Add(1)
		case err != nil:
			l.counts.dropped.Add(1)
			l.failed(err)
		case stored[i]:
			l.counts.writes.Add(1)
		}
	}
}

// sealed returns the milliseconds and the entry for writeScript.
func (l *Level) sealed(w write) (left, entry string) {
	if w.seal == nil {
		return "", ""
	}
	sealed := w.seal()
	if rest := w.until.Sub(l.config.Now()); sealed != nil && len(sealed) <= maxEntry && rest >= time.Millisecond {
		return milliseconds(rest), string(sealed)
	}
	return "", "" // what is there is older
}

// isFull reports whether an error says that the server has no room. Before Redis 7 that of a script has more before the word.
func isFull(err error) bool { return strings.Contains(err.Error(), "OOM ") }
