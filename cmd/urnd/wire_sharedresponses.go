package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/stored"
)

// sharedObjects returns what the cache of HTTP responses shares, nil where there is no second level.
func sharedObjects(level *valkey.Level, basis string) cache.Objects {
	if level == nil {
		return nil
	}
	return valkey.NewObjects(valkey.ObjectsConfig{Level: level, Name: "responses", Basis: basis, Purged: purgesResponse})
}

// newPurges returns what purges stored responses, here and in other urnds.
func newPurges(c config.Config, responses *httpcache.Cache, s *service, level *valkey.Level, d dependencies) *stored.Purges {
	if level == nil {
		return stored.NewPurges(responses, stored.PurgesConfig{})
	}
	settings := stored.PurgesConfig{
		Publish: func(ctx context.Context, of admin.ResponseSelection, hard bool) {
			publish(ctx, level, responsePurge(of, hard), d)
		},
		Position: func() []byte { text, _ := json.Marshal(level.Position()); return text }, // it has nothing that fails
	}
	if path := positionFile(c.Cache); path != "" {
		settings.Save = func(position []byte) { savePosition(path, position, d.log) }
	}
	purges := stored.NewPurges(responses, settings)
	end := level.Watch(func(p valkey.Purge) {
		switch {
		case p.Kind == "" || level.IsOwn(p) || isOfAnswers(p):
			purges.Passed()
		case isOfResponses(p):
			purges.Follow(responsesOf(p), !p.Soft)
		default: // what was missed is not known: all is validated
			purges.Follow(admin.ResponseSelection{All: true}, false)
		}
	})
	// Before the disk is closed: what is not carried out by then is not saved as that.
	s.closers = append(s.closers, func() { purges.Close(); end() })
	return purges
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

// savePosition replaces the file at once: one that is read is whole.
func savePosition(path string, position []byte, log *slog.Logger) {
	const mode = 0o600
	temporary := path + ".new"
	err := os.WriteFile(temporary, position, mode)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		log.Warn("which purges of other urnds were carried out could not be saved: after a restart all stored responses may be validated", "error", err)
	}
}
