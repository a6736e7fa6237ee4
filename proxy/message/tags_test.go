package message_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// tagsOf returns the tags of a reply about a name.
func tagsOf(t *testing.T, field message.Tags, name, separator string) []string {
	t.Helper()
	reply := message.Redirect(302, "https://a.example/", "", resolver.Answer{TTL: time.Minute},
		nil).WithCacheTags(field, name)
	return strings.Split(reply.Fields.Get(string(field)), separator)
}

// TestTags requires that the purge tag of a selection is on all replies about its names, and on few others.
func TestTags(t *testing.T) {
	named := func(text string) resolver.Selection {
		u, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return resolver.Selection{Name: u}
	}
	for name, tt := range map[string]struct{ of, others []resolver.Selection }{
		"urn:nbn:fi:uef-2019": {
			[]resolver.Selection{
				{All: true},
				{Namespace: "nbn"},
				named("urn:nbn:fi:uef-2019"),
				{Prefix: "urn:nb"},
				{Prefix: "urn:nbn:"},
				{Prefix: "urn:nbn:f"},
				{Prefix: "urn:nbn:fi:"},
				{Prefix: "urn:nbn:fi:uef-"},
				{Prefix: "urn:nbn:fi:uef-20"},
			},
			[]resolver.Selection{
				{Namespace: "isbn"},
				named("urn:nbn:fi:uef-2018"),
				{Prefix: "urn:nbn:se:"},
				{Prefix: "urn:nbn:fi:uea-"},
				{Prefix: "urn:isbn:"},
			},
		},
		"https://purl.example/net/a?b=c/d": {
			[]resolver.Selection{
				{All: true},
				named("https://purl.example/net/a"), named("https://purl.example/net/a?b=c/d"),
				{Prefix: "https://purl.example/"},
				{Prefix: "https://purl.example/net/"},
				{Prefix: "https://purl.example/net/a?b"},
				{Prefix: "https:"},
			},
			[]resolver.Selection{
				named("https://purl.example/net/b"),
				{Prefix: "https://other.example/"},
				{Namespace: "https"},
			},
		},
		"urn:a1:" + strings.Repeat("b-", 20): {
			[]resolver.Selection{{Prefix: "urn:a1:" + strings.Repeat("b-", 10)}},
			[]resolver.Selection{{Prefix: "urn:a1:b-c-"}},
		},
		"ark:/12345/x": {
			[]resolver.Selection{{Prefix: "ark:/12345/"}, {Prefix: "ark:"}},
			[]resolver.Selection{{Prefix: "ark:/12346/"}},
		},
	} {
		for field, separator := range map[message.Tags]string{
			message.CacheTag: ",", message.SurrogateKey: " ",
			message.Xkey: " ",
		} {
			tags := tagsOf(t, field, name, separator)
			for _, s := range tt.of {
				if tag := message.TagOf(s); !slices.Contains(tags, tag) {
					t.Errorf("%s: of %+v the tag is %q: %q", name, s, tag, tags)
				}
			}
			for _, s := range tt.others {
				if tag := message.TagOf(s); slices.Contains(tags, tag) {
					t.Errorf("%s has that of %+v: %q: %q", name, s, tag, tags)
				}
			}
		}
	}
}

// FuzzTagOfPrefix requires that the tag of any prefix of a name is on replies about the name.
func FuzzTagOfPrefix(f *testing.F) {
	for _, name := range []string{
		"urn:nbn:fi:uef-2019", "https://a.example/b?c/d-e", "ark:/1/2", "urn:", "urn:a",
		"urn::", "x:-", ":", "",
	} {
		f.Add(name, 7)
	}
	f.Fuzz(func(t *testing.T, name string, end int) {
		if u, err := uri.Parse(name); err != nil || u.Scheme() == "" {
			return
		}
		end = min(max(end, 0), len(name))
		tag := message.TagOf(resolver.Selection{Prefix: name[:end]})
		if slices.Contains(tagsOf(t, message.Xkey, name, " "), tag) {
			return
		}
		t.Errorf("%q has no tag of its beginning %q: %q", name, name[:end], tag)
	})
}

// TestUnmarked requires that a reply with no-store has no tags.
func TestUnmarked(t *testing.T) {
	reply := message.Redirect(302, "https://a.example/", "", resolver.Answer{}, nil)
	if got := reply.WithCacheTags(message.CacheTag, "urn:a1:b"); got.Fields != nil {
		t.Errorf("a reply for one request: %v", got.Fields)
	}
	if got := message.JSON(200, 1).WithCacheTags(message.CacheTag, "urn:a1:b"); got.Fields != nil {
		t.Errorf("no-store: %v", got.Fields)
	}
	reply = message.Redirect(302, "https://a.example/", "", resolver.Answer{TTL: time.Minute}, nil)
	if got := reply.WithCacheTags("", "urn:a1:b"); got.Fields != nil {
		t.Errorf("no field is set: %v", got.Fields)
	}
	reply.SharedMaxAge = time.Hour
	if got := reply.WithCacheTags("", "urn:a1:b").Fields.Get("CDN-Cache-Control"); got != "max-age=3600" {
		t.Errorf("without tags: %q", got)
	}
}
