package message_test

import (
	"slices"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// TestWithRecord: trial names are marked by a Boolean (RFC 9651 section 3.3.6).
func TestWithRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		record *resolver.Record
		want   httpmessage.Fields
	}{
		"none":                 {nil, nil},
		"one with nothing new": {&resolver.Record{Status: "active"}, nil},
		"for trial":            {&resolver.Record{Sandbox: true}, httpmessage.NewFields("Urnd-Sandbox", "?1")},
	} {
		if got := (message.Reply{}).WithRecord(tt.record).Fields; !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLinksAreOneField: some clients read only one of several field lines.
func TestLinksAreOneField(t *testing.T) {
	var r message.Reply
	r.AddLink("<a>; rel=b")
	r.AddLink("")
	r.AddLink("<c>; rel=d")
	if want := httpmessage.NewFields("Link", "<a>; rel=b, <c>; rel=d"); !slices.Equal(r.Fields, want) {
		t.Errorf("%q", r.Fields)
	}
}
