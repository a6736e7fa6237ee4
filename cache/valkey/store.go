package valkey

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	client "github.com/valkey-io/valkey-go"
)

// storeLease is the duration of a lease, which limits how long it outlives a killed instance.
const storeLease = 30 * time.Second

// Store is a store at the server for values that instances share besides caches, by key. It retains a value
// until it is deleted, or the server loses it. It is meant for a few values that are read rarely. Values are
// sealed with their keys. It is safe for concurrent use.
type Store struct {
	level *Level
	place string // the key of the hash at the server
	now   func() time.Time
	lease *client.Lua
}

// storedValue is the sealed form of a value.
type storedValue struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Value []byte    `json:"value"`
}

// leaseScript: KEYS lease; ARGV holder, and milliseconds, or 0 to release it. It returns whether the holder has
// it, or had it.
const leaseScript = `
local other = redis.call('GET', KEYS[1])
if other and other ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`

// NewStore returns the shelf of a level with a name.
func NewStore(level *Level, name string, now func() time.Time) *Store {
	return &Store{
		level: level, place: level.sealer.key("shelf", name), now: now, lease: client.NewLuaScript(leaseScript),
	}
}

// do sends a command to the server.
func (s *Store) do(
	ctx context.Context, command func(client.Builder) client.Completed,
) (reply client.ValkeyResult, err error) {
	server := s.level.server.Load()
	if server == nil {
		return reply, errAway
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	reply = server.Do(ctx, command(server.B()))
	return reply, reply.Error()
}

// field returns the hash field of a key, which does not reveal host names to the server.
func (s *Store) field(key string) string { return s.level.sealer.key("shelf", key) }

// Get returns the value of a key, and when it was stored. The error wraps fs.ErrNotExist if there is none.
func (s *Store) Get(ctx context.Context, key string) (content []byte, at time.Time, err error) {
	field := s.field(key)
	reply, err := s.do(ctx, func(b client.Builder) client.Completed {
		return b.Hget().Key(s.place).Field(field).Build()
	})
	if client.IsValkeyNil(err) {
		err = fs.ErrNotExist
	}
	var sealed string
	if err == nil {
		sealed, err = reply.ToString()
	}
	var found storedValue
	if err == nil {
		found, err = s.open(field, sealed)
	}
	if err != nil {
		return nil, at, fmt.Errorf("reading %s from the shared cache: %w", key, err)
	}
	return found.Value, found.At, nil
}

// open opens the sealed value of a field.
func (s *Store) open(field, sealed string) (found storedValue, err error) {
	text, err := s.level.sealer.open([]byte(sealed), field)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	return found, err
}

// Put sets the value of a key.
func (s *Store) Put(ctx context.Context, key string, content []byte) error {
	text, err := json.Marshal(storedValue{key, s.now(), content})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", key, err)
	}
	field := s.field(key)
	_, err = s.do(ctx, func(b client.Builder) client.Completed {
		return b.Hset().Key(s.place).FieldValue().FieldValue(field,
			client.BinaryString(s.level.sealer.seal(text, field))).Build()
	})
	if err != nil {
		return fmt.Errorf("writing %s to the shared cache: %w", key, err)
	}
	return nil
}

// Delete removes a key, and the keys that begin with it and a slash. A missing key is not an error.
func (s *Store) Delete(ctx context.Context, key string) error {
	below, err := s.Keys(ctx, key+"/")
	if err != nil {
		return err
	}
	fields := []string{s.field(key)}
	for _, k := range below {
		fields = append(fields, s.field(k))
	}
	if _, err := s.do(ctx, func(b client.Builder) client.Completed {
		return b.Hdel().Key(s.place).Field(fields...).Build()
	}); err != nil {
		return fmt.Errorf("removing %s from the shared cache: %w", key, err)
	}
	return nil
}

// Keys returns the keys with a prefix, sorted. It omits fields that no instance can have written.
func (s *Store) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	reply, err := s.do(ctx, func(b client.Builder) client.Completed { return b.Hgetall().Key(s.place).Build() })
	var all map[string]string
	if err == nil {
		all, err = reply.AsStrMap()
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s in the shared cache: %w", prefix, err)
	}
	for field, sealed := range all {
		if found, err := s.open(field, sealed); err == nil && strings.HasPrefix(found.Key, prefix) {
			keys = append(keys, found.Key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Lease returns a function that acquires or renews a lease for storeLease and reports whether it is held, and a
// function that releases it. holder must be unique.
func (s *Store) Lease(
	name, holder string,
) (acquire func(context.Context) (bool, error), release func(context.Context) error) {
	key := s.level.sealer.key("lock", s.place, name)
	change := func(ctx context.Context, lasts time.Duration) (bool, error) {
		server := s.level.server.Load()
		if server == nil {
			return false, errAway
		}
		ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
		defer cancel()
		done, err := s.lease.Exec(ctx, server, []string{key}, []string{holder, milliseconds(lasts)}).AsInt64()
		return done == 1, err
	}
	return func(ctx context.Context) (bool, error) { return change(ctx, storeLease) },
		func(ctx context.Context) error { _, err := change(ctx, 0); return err }
}
