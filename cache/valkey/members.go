package valkey

import (
	"context"
	"sync"
	"time"
)

const (
	meetEvery = 15 * time.Second
	meetFor   = time.Minute // how long an instance is there after it wrote that it is
)

// members are the caches that the instance shares, by their names, and whether others share them. The zero value
// has none. They are safe for concurrent use.
type members struct {
	mu  sync.Mutex
	all map[string]*member
	met time.Time // the last time, zero before
}

type member struct {
	key     string    // at the server, of all that share the same
	seen    time.Time // when another instance was there, or this one joined
	isAlone bool
}

// Join tells which caches the instance shares from now on: what each rests on, by its name.
func (l *Level) Join(bases map[string]string) {
	all := make(map[string]*member)
	m := &l.members
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, basis := range bases {
		key := l.sealer.key("member", name, basis)
		if all[name] = m.all[name]; all[name] == nil || all[name].key != key {
			all[name] = &member{key: key, seen: l.config.Now()}
		}
	}
	m.all = all
}

// meet writes at the server that the instance shares its caches, and reads which one did so before. It is the write
// that finds a server which accepts none; one without room is no error.
func (l *Level) meet(ctx context.Context) error {
	m, now := &l.members, l.config.Now()
	keys, mine := []string{l.logKey() + memberSuffix}, []*member{{}}
	m.mu.Lock()
	for _, one := range m.all {
		keys, mine = append(keys, one.key+memberSuffix), append(mine, one)
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	last, err := l.scripts.meet.Exec(ctx, l.server.Load(), keys, []string{l.id, milliseconds(meetFor)}).AsStrSlice()
	switch {
	case err != nil && isFull(err):
		return nil
	case err != nil:
		return err
	case len(last) != len(keys):
		return errReply
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, one := range mine {
		if last[i] != "" && last[i] != l.id || now.Sub(m.met) > meetFor { // or the server was away, and no instance could be seen
			one.seen = now
		}
		one.isAlone = now.Sub(one.seen) > meetFor
	}
	m.met = now
	return nil
}

// isDue reports whether it is time to meet again.
func (m *members) isDue(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Sub(m.met) >= meetEvery
}

// Alone returns, of each cache that the instance shares, whether it is the only one that did so within the last
// minute. It returns nil where the server is not asked.
func (l *Level) Alone() map[string]bool {
	if !l.isOpen.Load() {
		return nil
	}
	l.members.mu.Lock()
	defer l.members.mu.Unlock()
	alone := make(map[string]bool, len(l.members.all))
	for name, one := range l.members.all {
		alone[name] = one.isAlone
	}
	return alone
}
