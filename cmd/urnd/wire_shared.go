package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/registry"
)

// sharedConnect is the time to connect to one address of the server of the second level.
const sharedConnect = 2 * time.Second

// wireShared makes the second level of the caches, if there is one: that of the previous configuration where its settings have not
// changed. Caches that rest on it are then the previous ones, too.
func wireShared(r *resolution, c config.Config, d resolverDependencies) error {
	if c.Cache.Shared == "" || c.Cache.SharedKey == "" { // a check of a configuration may not have the credential
		return nil
	}
	basis := []any{c.Cache.Shared, c.Cache.SharedPassword, c.Cache.SharedKey, c.Cache.SharedCA, c.Cache.SharedPrefix, c.Cache.SharedTimeout}
	var err error
	r.level, err = shared.Reuse(&r.shared, d.previous.reusable(), "shared", basis, func() (*valkey.Level, func(), error) {
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
	r.readiness = append(r.readiness, degrading(r.level.Faults))
	r.caches = append(r.caches, observe.Shared{Level: r.level})
	return nil
}

func newLevel(c config.Cache, d resolverDependencies) (*valkey.Level, error) {
	guard := netguard.Configured(sharedConnect)
	settings := valkey.Config{
		URL: c.Shared, Prefix: c.SharedPrefix, Timeout: c.SharedTimeout, Now: d.now, Dial: guard.DialContext,
		Report: d.sharedState, Poisoned: d.sharedPoisoned, Position: savedPosition(positionFile(c)),
	}
	key, err := secret.Read("cache.shared_key", c.SharedKey)
	if err != nil {
		return nil, err
	}
	if settings.Secret = bytes.TrimSpace(key); len(settings.Secret) < valkey.MinSecret {
		return nil, fmt.Errorf("cache.shared_key: the secret is shorter than %d octets", valkey.MinSecret)
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
		// It is read again with each connection; a command may not have the credential.
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

// sharedAnswers returns the second level of the cache of answers, nil where there is none. What the registry of the site is asked for is not in it: who
// has the registry knows at once when a name changes.
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
		own := r.names.AskedFor()
		settings.Shares = func(key string) bool { // others may be names of its web hosts
			return own != nil && strings.HasPrefix(key, "urn:") && !registry.Asked(own, registry.Name(key))
		}
	}
	return valkey.NewView(settings)
}

// sharedRecords returns the second level of the cache of DNS record sets, nil where there is none.
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

// positionFile returns where it is saved which purges were carried out on the responses on disk, "" where none are there.
func positionFile(c config.Cache) string {
	directory := diskDirectory(c)
	if c.Disk == 0 || c.Responses == 0 || directory == "" {
		return ""
	}
	return filepath.Join(directory, "purges.json")
}

// savedPosition returns what savePosition has saved, the zero value where nothing can be read: then all stored responses are validated.
func savedPosition(path string) (p valkey.Position) {
	text, err := os.ReadFile(path) //nolint:gosec // it is in a directory of the configuration
	if err != nil || json.Unmarshal(text, &p) != nil {
		return valkey.Position{}
	}
	return p
}
