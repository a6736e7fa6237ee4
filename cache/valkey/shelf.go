package valkey

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	client "github.com/valkey-io/valkey-go"
)

const (
	lockFor   = 30 * time.Second // how long a lock outlives an instance that was killed. It is renewed thrice in that time
	lockRetry = time.Second      // after which a lock is asked for again that another call has
)

// Shelf keeps at the server what instances share besides caches, by keys, until it is deleted, or the server loses
// it: a few values, which are read rarely. They are sealed, with their keys. A lock is for one call of Lock, of
// whatever instance. It is safe for concurrent use.
type Shelf struct {
	level *Level
	place string // the key of the hash at the server
	now   func() time.Time
	renew *client.Lua

	mu    sync.Mutex
	locks map[string]*lock
}

// lock is one that this instance has.
type lock struct {
	token string
	end   context.CancelFunc
	done  chan struct{}
}

// kept is a value as it is sealed.
type kept struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Value []byte    `json:"value"`
}

// renewScript: KEYS lock; ARGV token, and milliseconds, or 0 to give it up. What another call has is left.
const renewScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`

// NewShelf returns a shelf of a level, by its name.
func NewShelf(level *Level, name string, now func() time.Time) *Shelf {
	return &Shelf{
		level: level, place: level.sealer.key("shelf", name), now: now, renew: client.NewLuaScript(renewScript), locks: make(map[string]*lock),
	}
}

// do sends a command to the server.
func (s *Shelf) do(ctx context.Context, command func(client.Builder) client.Completed) (reply client.ValkeyResult, err error) {
	server := s.level.server.Load()
	if server == nil {
		return reply, errAway
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	reply = server.Do(ctx, command(server.B()))
	return reply, reply.Error()
}

// field returns the field of a key in the hash: names of hosts are nobody's business at the server.
func (s *Shelf) field(key string) string { return s.level.sealer.key("shelf", key) }

// Get returns the value of a key, and when it was put there. The error wraps fs.ErrNotExist where there is none.
func (s *Shelf) Get(ctx context.Context, key string) (content []byte, at time.Time, err error) {
	field := s.field(key)
	reply, err := s.do(ctx, func(b client.Builder) client.Completed { return b.Hget().Key(s.place).Field(field).Build() })
	if client.IsValkeyNil(err) {
		err = fs.ErrNotExist
	}
	var sealed string
	if err == nil {
		sealed, err = reply.ToString()
	}
	var found kept
	if err == nil {
		found, err = s.open(field, sealed)
	}
	if err != nil {
		return nil, at, fmt.Errorf("reading %s from the shared level of caches: %w", key, err)
	}
	return found.Value, found.At, nil
}

// open returns what is sealed in a field.
func (s *Shelf) open(field, sealed string) (found kept, err error) {
	text, err := s.level.sealer.open([]byte(sealed), field)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	return found, err
}

// Put sets the value of a key.
func (s *Shelf) Put(ctx context.Context, key string, content []byte) error {
	text, err := json.Marshal(kept{key, s.now(), content})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", key, err)
	}
	field := s.field(key)
	_, err = s.do(ctx, func(b client.Builder) client.Completed {
		return b.Hset().Key(s.place).FieldValue().FieldValue(field, client.BinaryString(s.level.sealer.seal(text, field))).Build()
	})
	if err != nil {
		return fmt.Errorf("writing %s to the shared level of caches: %w", key, err)
	}
	return nil
}

// Delete removes a key, and those that begin with it and a slash. One that is not there is no error.
func (s *Shelf) Delete(ctx context.Context, key string) error {
	below, err := s.Keys(ctx, key+"/")
	if err != nil {
		return err
	}
	fields := []string{s.field(key)}
	for _, k := range below {
		fields = append(fields, s.field(k))
	}
	if _, err := s.do(ctx, func(b client.Builder) client.Completed { return b.Hdel().Key(s.place).Field(fields...).Build() }); err != nil {
		return fmt.Errorf("removing %s from the shared level of caches: %w", key, err)
	}
	return nil
}

// Keys returns the keys that begin with a text, in their order. What no instance can have written is left out.
func (s *Shelf) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	reply, err := s.do(ctx, func(b client.Builder) client.Completed { return b.Hgetall().Key(s.place).Build() })
	var all map[string]string
	if err == nil {
		all, err = reply.AsStrMap()
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s in the shared level of caches: %w", prefix, err)
	}
	for field, sealed := range all {
		if found, err := s.open(field, sealed); err == nil && strings.HasPrefix(found.Key, prefix) {
			keys = append(keys, found.Key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Lock waits until this call alone has a lock, and holds it until Unlock.
func (s *Shelf) Lock(ctx context.Context, name string) error {
	key, token := s.level.sealer.key("lock", s.place, name), newToken()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		_, err := s.do(ctx, func(b client.Builder) client.Completed {
			return b.Set().Key(key).Value(token).Nx().PxMilliseconds(lockFor.Milliseconds()).Build()
		})
		if err == nil {
			break
		}
		if !client.IsValkeyNil(err) {
			return fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("locking %s: %w", name, ctx.Err())
		case <-retry.C:
		}
	}
	holding, end := context.WithCancel(context.WithoutCancel(ctx))
	l := &lock{token, end, make(chan struct{})}
	go s.hold(holding, key, l)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks[name] = l
	return nil
}

// hold renews a lock. One that cannot be renewed is taken by another instance, which does the same again: nothing is
// lost.
func (s *Shelf) hold(ctx context.Context, key string, l *lock) {
	defer close(l.done)
	ticker := time.NewTicker(lockFor / 3) //nolint:mnd // see lockFor
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.change(ctx, key, l.token, lockFor)
		}
	}
}

// change renews a lock, or gives it up with 0.
func (s *Shelf) change(ctx context.Context, key, token string, lasts time.Duration) error {
	server := s.level.server.Load()
	if server == nil {
		return errAway
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	return s.renew.Exec(ctx, server, []string{key}, []string{token, milliseconds(lasts)}).Error()
}

// Unlock gives a lock up.
func (s *Shelf) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	l := s.locks[name]
	delete(s.locks, name)
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.end()
	<-l.done
	return s.change(ctx, s.level.sealer.key("lock", s.place, name), l.token, 0)
}
