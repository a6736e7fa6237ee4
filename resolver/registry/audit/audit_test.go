package audit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/audit"
)

// A record has only changed fields, and is one line whatever names and notes contain.
func TestChanges(t *testing.T) {
	var text bytes.Buffer
	log := audit.LogChanges(slog.New(slog.NewTextHandler(&text, nil)))
	actor := registry.Actor{Name: "a\nb", Token: "t", Client: "192.0.2.1", Request: "r"}
	at := time.Unix(1_900_000_000, 0).UTC()
	before := registry.Entry{
		Key: registry.Name("urn:x:a"), Version: 1, Changed: at,
		Record: registry.Record{Since: at, Contact: "c", Targets: []registry.Target{{URI: "https://a.example/"}}},
	}
	after := before
	after.Version, after.Contact, after.Note = 2, "d\r\ne", "n\nlevel=ERROR"
	for _, tt := range []struct {
		change registry.Changed
		want   []string
	}{
		{registry.Changed{Before: before, After: after}, []string{
			`msg="registry changed" by="a\nb" token=t client=192.0.2.1 request=r name=urn:x:a version=2 ` +
				`before="{\"contact\":\"c\"}" after="{\"contact\":\"d\\r\\ne\"}" note="n\nlevel=ERROR"`,
		}},
		{
			registry.Changed{After: before},
			[]string{"before={} ", `\"contact\":\"c\"`, `\"targets\":[{\"uri\":\"https://a.example/\"}]`},
		},
		{registry.Changed{Before: before, After: registry.Entry{Key: before.Key}}, []string{
			"registry sandbox purged", "after={}", "version=0",
		}},
	} {
		text.Reset()
		log(t.Context(), actor, []registry.Changed{tt.change})
		for _, want := range tt.want {
			if got := text.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 ||
				strings.Contains(got, "\r") {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
	}
}
