package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/uri"
)

// sharedObjects returns what the cache of HTTP responses shares, nil where there is no second level.
func sharedObjects(c config.Config, level *valkey.Level) cache.Objects {
	if level == nil {
		return nil
	}
	_, basis := c.SharedBases()
	return valkey.NewObjects(valkey.ObjectsConfig{Level: level, Name: "responses", Basis: basis, Purged: purgesResponse})
}

// newPurges returns what purges stored responses, here and in other urnds.
func newPurges(c config.Config, responses *httpcache.Cache, s *service, level *valkey.Level, d dependencies) *stored.Purges {
	if level == nil {
		return stored.NewPurges(responses, stored.PurgesConfig{})
	}
	settings := stored.PurgesConfig{
		Publish: func(ctx context.Context, of adminapi.ResponseSelection, hard bool) {
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
			purges.Follow(adminapi.ResponseSelection{All: true}, false)
		}
	})
	// Before the disk is closed: what is not carried out by then is not saved as that.
	s.closers = append(s.closers, func() { purges.Close(); end() })
	return purges
}

// savePosition replaces the file at once: one that is read is whole.
func savePosition(path string, position []byte, log *slog.Logger) {
	if err := replaceFile(path, position); err != nil {
		log.Warn("which purges of other urnds were carried out could not be saved: after a restart all stored responses may be validated", "error", err)
	}
}

func replaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // another configuration may still do so, too
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// responsePurge returns a selection of stored responses as a purge of the log.
func responsePurge(s adminapi.ResponseSelection, hard bool) valkey.Purge {
	p := valkey.Purge{Kind: purgeResponses, Soft: !hard}
	switch {
	case s.URI.IsValid():
		p.Kind, p.Text = purgeURI, s.URI.String()
	case s.Prefix != "":
		p.Kind, p.Text = purgeResponsePrefix, s.Prefix
	case s.Host != adminapi.Host{}:
		p.Kind, p.Text = purgeHost, s.Host.String()
	case s.Tag != "":
		p.Kind, p.Text = purgeTag, s.Tag
	}
	return p
}

// responsesOf returns which stored responses a purge of the log is about: all, where it is of a later version.
func responsesOf(p valkey.Purge) adminapi.ResponseSelection {
	switch p.Kind {
	case purgeURI:
		if u, err := uri.Parse(p.Text); err == nil {
			return adminapi.ResponseSelection{URI: u}
		}
	case purgeResponsePrefix:
		return adminapi.ResponseSelection{Prefix: p.Text}
	case purgeHost:
		if host, err := adminapi.ParseHost(p.Text); err == nil {
			return adminapi.ResponseSelection{Host: host}
		}
	case purgeTag:
		return adminapi.ResponseSelection{Tag: p.Text}
	}
	return adminapi.ResponseSelection{All: true}
}

// purgesResponse reports whether a purge of the log is about a stored response, by its subject: its URI and its tags, a line each.
func purgesResponse(p valkey.Purge, subject string) bool {
	if p.Kind == "" || isOfAnswers(p) {
		return false
	}
	key, tags, _ := strings.Cut(subject, "\n")
	if p.Kind == purgeTag {
		return slices.Contains(strings.Split(tags, "\n"), p.Text)
	}
	return responsesOf(p).Has(key)
}

// publish publishes a purge before it is done here.
func publish(ctx context.Context, level *valkey.Level, p valkey.Purge, d dependencies) {
	if err := level.Publish(ctx, p); err != nil {
		d.log.Warn("a purge reaches other urnds as soon as the server of cache.shared answers", "error", err)
	}
}
