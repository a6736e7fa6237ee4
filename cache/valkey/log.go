package valkey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	client "github.com/valkey-io/valkey-go"
)

// The log of purges is a stream at the server. Its entries have the numbers 1, 2, 3 and so on, and the epoch of
// the log, which changes when the server has lost it. Each is sealed with its number and the tag of the
// preceding entry, so that omitting, moving or replacing an entry is detected. A cache entry has the position
// in the log up to which its instance had applied all purges when the load began.

// logState is the state of the log known to an instance. It is immutable.
type logState struct {
	mark            // all purges up to it were applied; the zero value before the log was read
	tag    string   // of the log entry at mark
	floor  uint64   // purges up to it may be forgotten: older cache entries are not used
	purges []logged // above floor, in order
}

// logged is a purge in the log.
type logged struct {
	number uint64
	purge  Purge
}

var (
	errAway   = errors.New("no reply from the server")
	errForged = errors.New("purge log has an entry of no instance")
	errLost   = errors.New("purge log at the server was replaced")
)

// verdict says whether an entry with a mark may be used, given the end of the log at the server. about reports
// whether a purge selects the entry.
func (l *Level) verdict(of mark, head head, about func(Purge) bool) verdict {
	s := l.log.Load()
	switch {
	case !s.isBegin(head):
		l.wakeUp() // the log was lost, or is not read yet
		return unknown
	case of.epoch != s.epoch || of.number < s.floor:
		return purged
	case of.number > head.number:
		return foreign
	case l.unsent.has(about):
		return purged
	case of.number == head.number:
		return usable
	case s.number < head.number:
		return unknown
	}
	for i := len(s.purges) - 1; i >= 0 && s.purges[i].number > of.number; i-- {
		if p := s.purges[i].purge; p.Kind == PurgeEverything || about(p) {
			return purged
		}
	}
	return usable
}

// isBegin reports whether s may be the beginning of a log with this end.
func (s *logState) isBegin(end head) bool {
	return s.epoch != "" && end.epoch == s.epoch &&
		(end.number > s.number || end.number == s.number && end.tag == s.tag)
}

// with returns the state with one more entry.
func (s logState) with(e logEntry) *logState {
	s.number, s.tag = e.number, e.tag
	if s.purges = append(s.purges[:len(s.purges):len(s.purges)], logged{e.number, e.purge}); len(s.purges) > retained {
		s.floor, s.purges = s.purges[0].number, s.purges[1:]
	}
	return &s
}

// logEntry is an opened log entry.
type logEntry struct {
	mark
	before, tag string // of the preceding entry; of this entry
	purge       Purge
}

// logPlace returns the place that a log entry is sealed for.
func logPlace(at mark, before string) string {
	return logFormat + " " + at.epoch + " " + strconv.FormatUint(at.number, 10) + " " + before
}

// openLog opens a log entry.
func (l *Level) openLog(from client.XRangeEntry) (e logEntry, err error) {
	number, ok := numberOf(from.ID)
	data := from.FieldValues["d"]
	const tag = 16
	if e.mark = (mark{from.FieldValues["e"], number}); !ok || len(data) < 2*tag {
		return e, errForged
	}
	// The first entry has no preceding tag, but noTag of the same length.
	e.before, e.tag = data[:tag], tagOf(data)
	text, err := l.sealer.open([]byte(data[tag:]), logPlace(e.mark, e.before))
	if err != nil || json.Unmarshal(text, &e.purge) != nil {
		return e, errForged
	}
	return e, nil
}

// noTag is the tag before the first entry.
const noTag = "----------------"

// head queries the end of the log.
func (l *Level) head(ctx context.Context) (head, error) {
	started := l.config.Now()
	h, _, err := l.appendToLog(ctx, []string{"", "", "", "", "", ""})
	if err == nil {
		l.timeout.observe(l.config.Now().Sub(started))
	}
	return h, err
}

// add adds an entry if the log ends at at. It returns the end of the log, and whether the entry was added.
func (l *Level) add(ctx context.Context, at, next head, text []byte) (head, bool, error) {
	id, before := "", noTag
	if at.epoch != "" {
		id, before = identifier(at.number), at.tag
	}
	data := before + string(l.sealer.seal(text, logPlace(next.mark, before)))
	return l.appendToLog(ctx, []string{id, at.tag, identifier(next.number), next.epoch, data, strconv.Itoa(retained)})
}

func (l *Level) appendToLog(ctx context.Context, args []string) (h head, added bool, err error) {
	server := l.server.Load()
	if server == nil {
		return h, false, errAway
	}
	reply, err := l.scripts.log.Exec(ctx, server, []string{l.logKey()}, args).ToArray()
	if err != nil {
		return h, false, err
	}
	if len(reply) != 4 {
		return h, false, errReply
	}
	if h, err = headOf(reply); err != nil {
		return h, false, err
	}
	done, err := reply[3].AsInt64()
	return h, done == 1, err
}

func (l *Level) logKey() string { return l.logName }

// begin reads the whole log, or starts one. The entries in memory may be older than purges that the log has
// lost: they are loaded again, and used only if their source fails; if purges may have been missed, not even
// then. If this instance had read this log before its restart, it continues from there.
func (l *Level) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	l.log.Store(new(logState))
	server := l.server.Load()
	entries, err := server.Do(ctx,
		server.B().Xrange().Key(l.logKey()).Start("-").End("+").Count(retained+1).Build()).AsXRange()
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		text, _ := json.Marshal(Purge{}) // cannot fail
		at, _, err := l.add(ctx, head{}, head{mark: mark{newToken(), 1}}, text)
		if err != nil {
			return err
		}
		entries, err = server.Do(ctx,
			server.B().Xrange().Key(l.logKey()).Start(identifier(at.number)).End("+").Count(retained+
				1).Build()).AsXRange()
		if err != nil || len(entries) == 0 {
			return errors.Join(err, errLost)
		}
	}
	first, err := l.openLog(entries[0])
	if err != nil {
		return err
	}
	s := &logState{mark: mark{first.epoch, first.number - 1}, tag: first.before, floor: first.number - 1}
	opened := make([]logEntry, 0, len(entries))
	for _, from := range entries {
		e, err := l.next(s, from)
		if err != nil {
			return err
		}
		opened = append(opened, e)
		s = s.with(e)
	}
	l.catchUp(s, opened)
	l.log.Store(s)
	return nil
}

// catchUp passes the purges of a completely read log to the watchers: after a restart those behind the last
// position, otherwise a purge of everything.
func (l *Level) catchUp(s *logState, entries []logEntry) {
	from := l.position
	l.position = Position{}
	if from.isIn(s, entries) {
		for _, e := range entries {
			if e.number > from.Number {
				l.watches.notify(e.purge)
			}
		}
		return
	}
	soft := entries[0].number == 1
	for _, e := range entries {
		soft = soft && (e.purge.Soft || e.purge.Kind == "")
	}
	l.watches.notify(Purge{Kind: PurgeEverything, Soft: soft})
	l.counts.fullPurges.Add(1)
}

// next opens the log entry that follows a state.
func (l *Level) next(s *logState, from client.XRangeEntry) (logEntry, error) {
	e, err := l.openLog(from)
	switch {
	case err != nil:
		return e, err
	case e.epoch != s.epoch || e.number == s.number+1 && e.before != s.tag || e.number <= s.number:
		return e, errForged
	}
	if sent := l.sent.Load(); sent != nil && e.mark == sent.mark && e.tag != sent.tag {
		return e, errLost // a purge that this instance published is lost
	}
	return e, nil
}

// forget replaces a log that cannot be trusted by a new one: its purges cannot be known.
func (l *Level) forget(ctx context.Context, why error) error {
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	l.counts.foreign.Add(1)
	if l.config.Poisoned != nil {
		l.config.Poisoned(why.Error())
	}
	l.log.Store(new(logState))
	server := l.server.Load()
	if err := server.Do(ctx, server.B().Del().Key(l.logKey()).Build()).Error(); err != nil {
		return fmt.Errorf("deleting the purge log: %w", err)
	}
	return l.append(ctx, Purge{Kind: PurgeEverything})
}
