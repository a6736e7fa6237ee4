package valkey

import (
	"context"
	"sync"
	"time"
)

const (
	meetEvery = 15 * time.Second
	meetFor   = time.Minute // how long the announcement of an instance is valid
)

// members are the caches that the instance shares, by name, and whether other instances share them too. The
// zero value has none. It is safe for concurrent use.
type members struct {
	mu  sync.Mutex
	all map[string]*member
	met time.Time // the last time, zero before the first
}

type member struct {
	key        string    // at the server, the same for all instances with the same basis
	seen       time.Time // when another instance was seen, or this one joined
	standalone bool
}

// Join sets the caches that the instance shares: the basis of each, by name.
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

// meet announces at the server that the instance shares its caches, and reads which instance did so before.
// This write detects a server that accepts none; lack of memory is not an error.
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
		if last[i] != "" && last[i] != l.id || now.Sub(m.met) > meetFor { // or the server was unavailable
			one.seen = now
		}
		one.standalone = now.Sub(one.seen) > meetFor
	}
	m.met = now
	return nil
}

// isDue reports whether it is time for the next meet.
func (m *members) isDue(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Sub(m.met) >= meetEvery
}

// Standalone returns for each shared cache whether no other instance has shared it within the last minute. It
// returns nil while the server is not in use.
func (l *Level) Standalone() map[string]bool {
	if !l.open.Load() {
		return nil
	}
	l.members.mu.Lock()
	defer l.members.mu.Unlock()
	alone := make(map[string]bool, len(l.members.all))
	for name, one := range l.members.all {
		alone[name] = one.standalone
	}
	return alone
}
