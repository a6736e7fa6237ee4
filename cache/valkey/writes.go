package valkey

import (
	"context"
	"strings"
	"time"

	client "github.com/valkey-io/valkey-go"
)

const (
	maxWrites = 1024     // queued writes
	maxQueued = 16 << 20 // bytes of objects in queued writes
	maxBatch  = 64       // writes per request
)

// write is a queued write after a load.
type write struct {
	keys  []string // of the entry and its lease
	token string   // of the lease, which is released; "" for none
	kept  bool     // the entry is unchanged: only the lease is released or renewed
	renew bool     // renew the lease instead of releasing it
	until time.Time
	size  int           // memory retained by seal, in bytes, if large
	seal  func() []byte // returns the entry, nil if it must not be shared; a nil seal deletes the entry
}

// offer queues a write without waiting. If the queue is full or the level unusable, the write is dropped.
func (l *Level) offer(w write) {
	if w.kept && w.token == "" {
		return
	}
	if l.open.Load() {
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

// write sends the queued writes until ctx ends.
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

// send sends several writes in one batch.
func (l *Level) send(ctx context.Context, batch []write) {
	if !l.open.Load() {
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

// sealed returns the arguments milliseconds and entry for writeScript.
func (l *Level) sealed(w write) (left, entry string) {
	if w.seal == nil {
		return "", ""
	}
	sealed := w.seal()
	if rest := w.until.Sub(l.config.Now()); sealed != nil && len(sealed) <= maxEntry && rest >= time.Millisecond {
		return milliseconds(rest), string(sealed)
	}
	return "", "" // delete the stored entry, which is older
}

// isFull reports whether an error means that the server is out of memory. Before Redis 7, script errors have a
// prefix.
func isFull(err error) bool { return strings.Contains(err.Error(), "OOM ") }
