package uri_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// RFC 8288 section 3.3.
func TestRelations(t *testing.T) {
	for rel, ok := range map[string]bool{
		"": true, "item": true, "describedby": true, "cite-as": true, "a.b-1": true,
		"https://ref.gs1.org/voc/pip": true, "gs1:pip": true,
		"Item": false, "1a": false, "a b": false, "a,b": false, "gs1: pip": false, ":": false, "a\nb": false,
		"ä": false, "https://a.example/>": false, "x:" + strings.Repeat("a", 254): true,
		"x:" + strings.Repeat("a", 255): false,
	} {
		if err := uri.CheckRelation(rel); (err == nil) != ok {
			t.Errorf("%q: %v", rel, err)
		}
	}
}

// Names resolve to the resource, and not to links about it.
func TestLeads(t *testing.T) {
	for rel, leads := range map[string]bool{
		"": true, "item": true, "gs1:defaultLink": true, "describedby": false, "gs1:pip": false,
		"GS1:defaultLink": true, "gs1:handledBy": true,
		"https://gs1.org/voc/defaultLink": true, "http://ref.gs1.org/voc/handledBy": true,
		"https://ref.gs1.org/voc/pip": false, "gs1:": false,
	} {
		if got := uri.RelationResolves(rel); got != leads {
			t.Errorf("%q: %t", rel, got)
		}
	}
}
