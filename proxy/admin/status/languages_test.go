package status_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
)

// fullCaches has an item of each kind, and purges nothing.
type fullCaches struct{}

func (fullCaches) Find(string) ([]api.Entry, []api.Response, error) {
	return []api.Entry{
		{Key: "urn:a1:b", TTL: 5, Locations: []api.Location{{URI: "http://a.example/"}, {URI: "http://b.example/"}}},
		{Key: "urn:a1:c", TTL: -1, Reason: "name not found"},
	}, []api.Response{{Status: 200, Size: 1500, Where: []string{"memory"}}, {Status: 404, Size: -1}}, nil
}

func (fullCaches) ParseAnswersPurge(map[string]string) (func(context.Context) (int, error), error) {
	return nil, problem.ErrSelection
}

func (fullCaches) ParseResponsesPurge(map[string]string) (func(context.Context) (int, error), error) {
	return nil, problem.ErrSelection
}

// All text on a page for operators is in the language of the page, or marked otherwise. The page links to its
// translations, and fits in the initial congestion window.
func TestLanguages(t *testing.T) {
	word, unknown := regexp.MustCompile(`\p{L}{3,}`),
		regexp.MustCompile(`\{\{|\b(state|settings|caches|nav|error)\.[a-z_]{3,}`)
	// The same in English and other languages.
	same := regexp.MustCompile(`^(urnd|Caches|[Mm]edian|Details|error|configuration|Section|Machines|machine|cache|[0-9.]+ .iB)$`)
	all := pagesOf(status.Config{State: busySources().State, Settings: settings, Caches: fullCaches{}})
	design := pages.New(pages.Site{})
	targets := []string{
		"/status", "/config", "/config?section=dns", "/config?q=dns", "/config?q=none", "/caches",
		"/caches?uri=urn:a1:b", "/caches?by=uri&cache=answers&mode=soft", "/caches?by=all&cache=answers&mode=soft",
		"/caches?by=x", "/caches?by=host&text=a&cache=responses&mode=refresh",
		"/caches?by=uri&text=a&cache=responses&mode=soft",
		"/caches?purged=1&cache=answers&mode=soft", "/caches?purged=2&cache=responses&mode=refresh",
		"/caches?purged=0&cache=responses&mode=hard",
	}
	for _, target := range targets {
		english := testserver.OwnTexts(t, served(t, all, design.In(pages.English), target))
		for _, l := range pages.Languages() {
			body := served(t, all, design.In(l), target)
			var compressed bytes.Buffer
			z := gzip.NewWriter(&compressed)
			_, _ = z.Write([]byte(body))
			_ = z.Close()
			const firstFlight = 14 << 10 // RFC 6928
			if compressed.Len() > firstFlight || !strings.Contains(body, `<html lang="`+l.Tag()+`">`) {
				t.Errorf("%s in %s: %d bytes compressed: %.100s", target, l.Tag(), compressed.Len(), body)
			}
			for _, other := range pages.Languages() {
				if link := "lang=" + other.ShortTag() + `"`; other != l && !strings.Contains(body, link) {
					t.Errorf("%s in %s: no link to it in %s", target, l.Tag(), other.Tag())
				}
			}
			for _, text := range testserver.OwnTexts(t, body) {
				if unknown.MatchString(text) {
					t.Errorf("%s in %s: %q", target, l.Tag(), text)
				}
				if l != pages.English && word.MatchString(text) && slices.Contains(english, text) &&
					!same.MatchString(text) {
					t.Errorf("%s in %s: %q is in English", target, l.Tag(), text)
				}
			}
		}
	}
}

// The script gets its messages from the page, in the language of the page.
func TestWordsOfScript(t *testing.T) {
	var script string
	for _, p := range status.Pages(status.Config{}) {
		if p.Path == "/status.js" {
			reply, err := p.Serve(&page.Request{Request: &http.Request{Method: http.MethodGet}})
			if err != nil {
				t.Fatal(err)
			}
			script = string(reply.Body)
		}
	}
	body := show(t, "/status", status.Config{State: busySources().State})
	found := regexp.MustCompile(`report\("([a-z]+)"\)`).FindAllStringSubmatch(script, -1)
	for _, word := range found {
		if !strings.Contains(body, " data-"+word[1]+`="`) {
			t.Errorf("the page has no word %s", word[1])
		}
	}
	if len(found) != 3 {
		t.Errorf("%q", found)
	}
}
