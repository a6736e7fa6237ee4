package main

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/internal/webhook"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// webhooks are the caches in front of urnd that are told what to purge. nil are none.
type webhooks []*webhook.Sender

// tagsOf returns the field for tags of answers.
func tagsOf(c config.CDN) message.Tags {
	if c.Tags == config.TagsOff {
		return ""
	}
	return message.Tags(http.CanonicalHeaderKey(c.Tags))
}

// wireWebhooks makes what tells caches in front of urnd what to purge. What was not sent yet outlives a reload.
func wireWebhooks(r *resolution, c config.CDN, d dependencies) (all webhooks, err error) {
	if tagsOf(c) == "" {
		return nil, nil
	}
	guard := netguard.Configured(sharedConnect)
	for i, url := range c.Webhooks {
		settings := webhook.Config{
			URL: url, All: message.TagOfAll, Dial: guard.DialContext, Called: d.metrics.WebhookCall, After: time.After,
			Field: string(tagsOf(c)), Separator: tagsOf(c).Separator(),
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
		made, err := shared.Reuse(&r.shared, d.previous.reusable(), name, basis, func() (*webhook.Sender, func(), error) {
			made := webhook.New(settings)
			return made, made.Close, nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, made)
		r.starters = append(r.starters, made.Start)
		r.readiness = append(r.readiness, degrading(made.Faults))
	}
	told := all.purged
	r.purged.Store(&told)
	if d.previous != nil && d.previous.answers.Cache != r.answers.Cache { // a reload throws away what the contents of those in front rest on
		r.starters = append(r.starters, func() { told(resolver.Selection{All: true}) })
	}
	return all, nil
}

// purged tells that answers of a selection, whose name is canonical, were purged here: those in front may be, too.
func (w webhooks) purged(s resolver.Selection) {
	for _, sender := range w {
		sender.Add(message.TagOf(s))
	}
}

// pending returns how many tags are still to be sent.
func (w webhooks) pending() (tags int) {
	for _, sender := range w {
		tags += sender.Pending()
	}
	return tags
}
