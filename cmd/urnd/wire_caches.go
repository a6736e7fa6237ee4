package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/systemd"
	"github.com/urnd/urnd/uri"
)

// newCache returns the cache with a name: the one of the previous configuration if the basis of its contents
// is unchanged. second may be nil.
func newCache[V any](
	r *resolution, c config.Config, d resolverDependencies, name string, of config.Contents, refresh bool,
	bounds memory.Config[V],
	second cache.SecondLevel[V],
) (observe.Cache[V], error) {
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), name, c.Basis(of),
		func() (observe.Cache[V], func(), error) {
			store, err := memory.New(bounds)
			if err != nil {
				return observe.Cache[V]{}, nil, err
			}
			made := cache.New(cache.Config[V]{
				Store: store, Now: d.now, RefreshAhead: refresh, Second: second,
				Panicked: d.panicked, LoadTimeout: c.Resolve.Timeout, StaleFor: c.Cache.StaleFor,
				RetryAfter: c.Cache.RetryAfter,
			})
			return observe.Cache[V]{Cache: made, Store: store, Name: name}, func() { made.Close(); store.Close() }, nil
		})
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}

// newResponses returns the cache of HTTP responses: the one of the previous configuration if its basis is
// unchanged. objects is its second level, nil for none.
func newResponses(
	c config.Config, r *resolution, objects cache.Objects, d resolverDependencies, log *slog.Logger,
) (observe.Responses, error) {
	files, err := newDisk(c.Cache, r, d, log)
	if err != nil {
		return observe.Responses{}, err
	}
	make := func() (observe.Responses, func(), error) { return makeResponses(c, files.Store, objects, d) }
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), "responses", c.Basis(config.Responses), make)
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}

// collapseLimit limits the concurrent requests to one origin by clients whose wait for a collapsed request
// was in vain, and a quarter of it those of one client: the readers of an origin that is slow for one request
// must not all send requests to it (RFC 9111 section 4).
const collapseLimit = 16

func makeResponses(
	c config.Config, files *disk.Store, objects cache.Objects, d resolverDependencies,
) (observe.Responses, func(), error) {
	settings := httpcache.Config{
		Now: d.now, Disk: files, Shared: objects, Basis: c.DiskBasis(),
		Heuristic: httpcache.Heuristic{
			Fraction:    float64(c.Cache.HeuristicPercent) / 100,
			MaxLifetime: c.Cache.HeuristicMax,
		},
		MaxObject: int64(c.Cache.MaxResponse), MaxArriving: int64(c.Cache.Responses / 4), StaleFor: c.Cache.StaleFor,
		Safelisted: c.Cache.UnkeyedFields, CollapseTimeout: c.Cache.CollapseTimeout, CollapseLimit: collapseLimit,
		SameOrigin: uri.SameOrigin, Panicked: d.panicked,
	}
	for _, name := range c.Proxy.Targeted {
		settings.Targeted = append(settings.Targeted, http.CanonicalHeaderKey(name))
	}
	if c.Cache.Responses == 0 {
		made := observe.Responses{Cache: httpcache.New(settings)}
		return made, made.Close, nil
	}
	store, err := memory.New(memory.Config[*httpcache.Entry]{
		MaxBytes: int64(c.Cache.Responses), TypicalSize: usualResponse, Size: (*httpcache.Entry).Size,
	})
	if err != nil {
		return observe.Responses{}, nil, err
	}
	settings.Store = store
	made := observe.Responses{Cache: httpcache.New(settings), Store: store}
	return made, func() { made.Close(); store.Close() }, nil
}

// usualResponse is the typical memory of a response, in bytes: most have a body of some KiB, and all have a
// header.
const usualResponse = 4 << 10

// diskDirectory returns the directory for responses on disk, "" if unknown.
func diskDirectory(c config.Cache) string { return cmp.Or(c.DiskDirectory, systemd.CacheDirectory()) }

var errDiskDirectory = errors.New("cache.disk: there is no cache directory: set cache.disk_directory, or " +
	"CacheDirectory in the systemd unit")

// newDisk returns the disk store of HTTP responses: the one of the previous configuration if its settings are
// unchanged. It runs until the last configuration that uses it is closed.
func newDisk(c config.Cache, r *resolution, d resolverDependencies, log *slog.Logger) (observe.Disk, error) {
	if c.Disk == 0 || c.Responses == 0 {
		return observe.Disk{}, nil
	}
	directory := diskDirectory(c)
	if directory == "" {
		return observe.Disk{}, errDiskDirectory
	}
	basis := []any{c.Disk, directory}
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), "disk", basis, func() (observe.Disk, func(), error) {
		store, err := disk.Open(directory, disk.Config{MaxBytes: int64(c.Disk), Now: d.now, Log: log})
		if errors.Is(err, disk.ErrLocked) && d.previous != nil {
			err = fmt.Errorf("cache.disk cannot be changed by a reload: restart urnd: %w", err)
		}
		if err != nil {
			return observe.Disk{}, nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { store.Run(ctx) })
		return observe.Disk{Store: store}, func() {
			cancel()
			running.Wait()
			_ = store.Close() // it has nothing to save
		}, nil
	})
	if err != nil {
		return made, fmt.Errorf("cache.disk_directory: %w", err)
	}
	r.caches = append(r.caches, made)
	return made, nil
}

// sharedConnect is the timeout to connect to one address of the server of the second level.
const sharedConnect = 2 * time.Second

// wireShared sets the second level of the caches, if configured: that of the previous configuration if its
// settings are unchanged. The caches that use it are then reused, too.
func wireShared(r *resolution, c config.Config, d resolverDependencies) error {
	if c.Cache.Shared == "" || c.Cache.SharedKey == "" { // a configuration check may not have the credential
		return nil
	}
	basis := []any{
		c.Cache.Shared, c.Cache.SharedPassword, c.Cache.SharedKey, c.Cache.SharedCA, c.Cache.SharedPrefix,
		c.Cache.SharedTimeout,
	}
	var err error
	r.level, err = shared.Reuse(&r.shared, d.previous.reusable(), "shared", basis,
		func() (*valkey.Level, func(), error) {
			made, err := newLevel(c.Cache, d)
			if err != nil {
				return nil, nil, err
			}
			return made, made.Close, nil
		})
	if err != nil {
		return err
	}
	answers, responses := c.SharedBases()
	bases := map[string]string{"answers": answers} // and records
	if c.Cache.Responses > 0 {
		bases["responses"] = responses
	}
	r.starters = append(r.starters, func() { r.level.Join(bases) }, r.level.Start)
	r.readiness = append(r.readiness, degrading(r.level.Failures))
	r.caches = append(r.caches, observe.Shared{Level: r.level})
	return nil
}

func newLevel(c config.Cache, d resolverDependencies) (*valkey.Level, error) {
	guard := netguard.NewUnrestricted(sharedConnect)
	settings := valkey.Config{
		URL: c.Shared, Prefix: c.SharedPrefix, Timeout: c.SharedTimeout, Now: d.now, Dial: guard.DialContext,
		Report: d.sharedState, Poisoned: d.sharedPoisoned, Position: savedPosition(positionFile(c)),
	}
	key, err := secret.Read("cache.shared_key", c.SharedKey)
	if err != nil {
		return nil, err
	}
	if settings.Secret = bytes.TrimSpace(key); len(settings.Secret) < valkey.MinSecret {
		return nil, fmt.Errorf("cache.shared_key: the key is shorter than %d bytes", valkey.MinSecret)
	}
	if c.SharedCA != "" {
		if settings.CA, err = secret.Read("cache.shared_ca", c.SharedCA); err != nil {
			return nil, err
		}
	}
	if c.SharedPassword != "" {
		settings.Password = func() (string, error) {
			text, err := secret.Read("cache.shared_password", c.SharedPassword)
			return strings.TrimRight(string(text), "\r\n"), err
		}
		// The password is read again for each connection. A command may not have the credential.
		if _, err := settings.Password(); err != nil && !errors.Is(err, secret.ErrNoCredentials) {
			return nil, err
		}
	}
	level, err := valkey.New(settings)
	if err != nil {
		return nil, fmt.Errorf("cache.shared: %w", err)
	}
	return level, nil
}

// sharedAnswers returns the second level of the cache of answers, nil for none. It excludes names that the
// site's registry resolves: an instance with the registry immediately knows when they change.
func sharedAnswers(r *resolution, c config.Config) cache.SecondLevel[resolver.Locations] {
	if r.level == nil {
		return nil
	}
	basis, _ := c.SharedBases()
	settings := valkey.ViewConfig[resolver.Locations]{
		Level: r.level, Name: "answers", Basis: basis, Purged: purgesAnswer,
		Codec: valkey.Codec[resolver.Locations]{Encode: resolver.EncodeOutcome, Decode: resolver.DecodeOutcome},
	}
	if r.own != nil {
		own := r.names.RegistryPrefixes()
		settings.Shares = func(key string) bool { // other names may be names of its web hosts
			return own != nil && strings.HasPrefix(key, "urn:") && !registry.Owned(own, registry.Name(key))
		}
	}
	return valkey.NewView(settings)
}

// sharedRecords returns the second level of the cache of DNS record sets, nil for none.
func sharedRecords(r *resolution, c config.Config) cache.SecondLevel[ddds.Records] {
	if r.level == nil {
		return nil
	}
	basis, _ := c.SharedBases()
	return valkey.NewView(valkey.ViewConfig[ddds.Records]{
		Level: r.level, Name: "records", Basis: basis,
		Codec:  valkey.Codec[ddds.Records]{Encode: ddds.EncodeRecords, Decode: ddds.DecodeRecords},
		Purged: func(p valkey.Purge, _ string) bool { return purgesRecords(p) },
	})
}

// positionFile returns the path of the position up to which purges are applied to the responses on disk, ""
// without a disk store.
func positionFile(c config.Cache) string {
	directory := diskDirectory(c)
	if c.Disk == 0 || c.Responses == 0 || directory == "" {
		return ""
	}
	return filepath.Join(directory, "purges.json")
}

// savedPosition returns the position that savePosition has saved, the zero value if it cannot be read: all
// stored responses are then validated.
func savedPosition(path string) (p valkey.Position) {
	text, err := os.ReadFile(path) //nolint:gosec // it is in a directory of the configuration
	if err != nil || json.Unmarshal(text, &p) != nil {
		return valkey.Position{}
	}
	return p
}

// Kinds of purges in the log of the second level, besides valkey.PurgeEverything: those of answers, and those of
// stored responses.
const (
	purgeName      = "name"
	purgeNamespace = "namespace"
	purgePrefix    = "prefix"
	purgeAnswers   = "answers" // all

	purgeURI            = "uri"
	purgeResponsePrefix = "response-prefix"
	purgeHost           = "host"
	purgeTag            = "tag"
	purgeResponses      = "responses" // all
)

// isOfResponses reports whether a purge of the log concerns only stored responses, and isOfAnswers whether it
// concerns only answers. Purges of unknown kinds, of a later version, concern both.
func isOfResponses(p valkey.Purge) bool {
	return slices.Contains([]string{purgeURI, purgeResponsePrefix, purgeHost, purgeTag, purgeResponses}, p.Kind)
}

func isOfAnswers(p valkey.Purge) bool {
	return slices.Contains([]string{purgeName, purgeNamespace, purgePrefix, purgeAnswers}, p.Kind)
}

// sharedPurge returns a selection of answers, whose name must be canonical, as a purge of the log.
func sharedPurge(s resolver.Selection, soft bool) valkey.Purge {
	switch {
	case s.Name.IsValid():
		return valkey.Purge{Kind: purgeName, Text: s.Name.String(), Soft: soft}
	case s.Namespace != "":
		return valkey.Purge{Kind: purgeNamespace, Text: s.Namespace, Soft: soft}
	case s.Prefix != "":
		return valkey.Purge{Kind: purgePrefix, Text: s.Prefix, Soft: soft}
	default:
		return valkey.Purge{Kind: purgeAnswers, Soft: soft}
	}
}

// purgesAnswer reports whether a purge of the log concerns the answer of a key.
func purgesAnswer(p valkey.Purge, key string) bool {
	switch p.Kind {
	case "": // the beginning of the log
		return false
	case purgeName:
		return key == p.Text || resolver.NameOfKey(key) == p.Text
	case purgeNamespace:
		return resolver.Selection{Namespace: p.Text}.Contains(key)
	case purgePrefix:
		return resolver.Selection{Prefix: p.Text}.Contains(key)
	default:
		return !isOfResponses(p)
	}
}

// purgesRecords reports whether a purge of the log concerns DNS record sets. The names that a record set was
// used for are known only for those in memory, so a purge concerns all shared ones.
func purgesRecords(p valkey.Purge) bool { return p.Kind != "" && !p.Soft && !isOfResponses(p) }

// selectionOf returns the answers that a purge of the log concerns: all for an unknown kind.
func selectionOf(p valkey.Purge) resolver.Selection {
	switch p.Kind {
	case purgeName:
		if q, err := resolver.ParseQuery(p.Text, resolver.I2L); err == nil {
			return resolver.Selection{Name: q.URI}
		}
	case purgeNamespace:
		return resolver.Selection{Namespace: p.Text}
	case purgePrefix:
		return resolver.Selection{Prefix: p.Text}
	}
	return resolver.Selection{All: true}
}
