package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/internal/webhook"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// sharedObjects returns the second level of the cache of HTTP responses, nil for none.
func sharedObjects(c config.Config, level *valkey.Level) cache.Objects {
	if level == nil {
		return nil
	}
	_, basis := c.SharedBases()
	return valkey.NewObjects(valkey.ObjectsConfig{
		Level: level, Name: "responses", Basis: basis,
		Purged: purgesResponse,
	})
}

// newPurges returns the purges of stored responses, of this instance and others.
func newPurges(
	c config.Config, responses *httpcache.Cache, s *service, level *valkey.Level, d dependencies,
) *stored.Purges {
	if level == nil {
		return stored.NewPurges(responses, stored.PurgesConfig{})
	}
	settings := stored.PurgesConfig{
		Publish: func(ctx context.Context, of adminapi.ResponseSelection, hard bool) {
			publish(ctx, level, responsePurge(of, hard), d)
		},
		// None of its fields can fail.
		Position: func() []byte { text, _ := json.Marshal(level.Position()); return text },
	}
	if path := positionFile(c.Cache); path != "" {
		settings.Save = func(position []byte) { savePosition(path, position, d.log) }
	}
	purges := stored.NewPurges(responses, settings)
	end := level.Watch(func(p valkey.Purge) {
		switch {
		case p.Kind == "" || level.IsOwn(p) || isOfAnswers(p):
			purges.Advance()
		case isOfResponses(p):
			purges.Follow(responsesOf(p), !p.Soft)
		// Unknown purges were missed: all responses are validated.
		default:
			purges.Follow(adminapi.ResponseSelection{All: true}, false)
		}
	})
	// It is closed before the disk store: purges that are not done by then are not saved as done.
	s.closers = append(s.closers, func() { purges.Close(); end() })
	return purges
}

// savePosition replaces the file atomically, so that readers see a complete one.
func savePosition(path string, position []byte, log *slog.Logger) {
	if err := replaceFile(path, position); err != nil {
		log.Warn("saving the state of purges failed: after a restart all stored responses may be revalidated",
			"error", err)
	}
}

func replaceFile(path string, text []byte) error {
	// The previous configuration may be writing it, too.
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
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

// responsesOf returns the stored responses that a purge of the log concerns: all for an unknown kind.
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

// purgesResponse reports whether a purge of the log concerns a stored response, by its subject: its URI and
// its tags, one per line.
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
		d.log.Warn("purge delayed for other instances until the server of cache.shared responds", "error", err)
	}
}

// webhooks notify the caches in front of urnd of purges. nil has none.
type webhooks []*webhook.Sender

// tagsOf returns the header field for the tags of answers.
func tagsOf(c config.CDN) message.Tags {
	if c.Tags == config.TagsOff {
		return ""
	}
	return message.Tags(http.CanonicalHeaderKey(c.Tags))
}

// wireWebhooks returns the webhooks for the caches in front of urnd. Pending notifications outlive a reload.
func wireWebhooks(r *resolution, c config.CDN, d dependencies) (all webhooks, err error) {
	if tagsOf(c) == "" {
		return nil, nil
	}
	guard := netguard.NewUnrestricted(sharedConnect)
	for i, url := range c.Webhooks {
		settings := webhook.Config{
			URL: url, AllTag: message.TagOfAll, Dial: guard.DialContext, Called: d.metrics.WebhookCall,
			After: time.After, Field: string(tagsOf(c)), Separator: tagsOf(c).Separator(),
			Report: func(err error) { d.hookState(i, err) },
			Lost:   func(tags int) { d.metrics.WebhookLost(tags); d.hookLost(i, tags) },
		}
		if c.Secret != "" {
			settings.Secret = func() (string, error) {
				text, err := secret.Read("cdn.secret", c.Secret)
				return strings.TrimSpace(string(text)), err
			}
		}
		name, basis := "webhook "+strconv.Itoa(i), []any{url, c.Secret, c.Tags}
		made, err := shared.Reuse(&r.shared, d.previous.reusable(), name, basis,
			func() (*webhook.Sender, func(), error) {
				made := webhook.New(settings)
				return made, made.Close, nil
			})
		if err != nil {
			return nil, err
		}
		all = append(all, made)
		r.starters = append(r.starters, made.Start)
		r.readiness = append(r.readiness, degrading(made.Failures))
	}
	readers := all.purged
	r.purged.Store(&readers)
	// The reload has discarded the cache of answers, so the contents of the caches in front are purged.
	if d.previous != nil && d.previous.answers.Cache != r.answers.Cache {
		r.starters = append(r.starters, func() { readers(resolver.Selection{All: true}) })
	}
	return all, nil
}

// purged notifies the caches in front that the answers of a selection, whose name is canonical, were purged
// here.
func (w webhooks) purged(s resolver.Selection) {
	for _, sender := range w {
		sender.Add(message.TagOf(s))
	}
}

// pending returns the number of tags that are not sent yet.
func (w webhooks) pending() (tags int) {
	for _, sender := range w {
		tags += sender.Pending()
	}
	return tags
}
